// SPDX-License-Identifier: Apache-2.0
import {
  RETAIN_UNTIL,
  SERVED_SINCE,
  servedSince,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';
import { formatDuration } from '#api/object/duration.ts';
import { CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { formatTime } from '#api/object/time.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import {
  CLUSTER_SIGNER,
  INHERITED,
  LONGEST_LEAF,
  SECRET_NAMESPACE,
} from '#api/signer/bundle-annotations.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import { secondsOf } from '#ca/rotation/last-leaf-end.ts';

/** Returns the bundle's annotations: ours as desired, others unchanged. */
export function bundleAnnotations(
  input: PublishedBundle & {
    /** The bundle that another client deleted within the last minute. */
    readonly lost: ClusterTrustBundle | undefined;
    readonly anchors: readonly string[];
    /** Fingerprint → milliseconds until which it stays. */
    readonly inherited: ReadonlyMap<string, number>;
  },
): Readonly<Record<string, string>> {
  const { signer, bundle, inherited } = input;
  const annotations = bundle?.metadata.annotations ?? {};
  const { [RETAIN_UNTIL]: _retired, [INHERITED]: _before, ...kept } = annotations;
  const longest = (signer.status?.authorities ?? []).map((each) => secondsOf(each.longestLeaf));
  // The status lists every CA whose leaves may be valid. The bundle's own annotation counts beside
  // the status only if an earlier ClusterSigner wrote it, or may have written it.
  const isRecorded = signer.status?.retainedAnchors?.length === 0;
  const before = isRecorded ? 0 : secondsOf(kept[LONGEST_LEAF]);
  return {
    ...kept,
    [CLUSTER_SIGNER]: signer.metadata.name,
    [CLUSTER_SIGNER_UID]: signer.metadata.uid,
    [SECRET_NAMESPACE]: input.secretNamespace,
    [LONGEST_LEAF]: formatDuration(Math.max(before, ...longest)),
    [SERVED_SINCE]: sinceText(input.anchors, bundle ?? input.lost, input.now),
    ...(inherited.size === 0 ? {} : { [INHERITED]: untilText(inherited) }),
  };
}

/**
 * Returns the served-since times. An anchor keeps its time only while the served bundle has it. An
 * anchor that was removed and put back counts from now. After a recent deletion of the whole bundle
 * the time is kept, since kubelets keep the files of a missing bundle.
 */
function sinceText(
  anchors: readonly string[],
  bundle: ClusterTrustBundle | undefined,
  now: number,
): string {
  const served = anchorFingerprints(bundle?.spec.trustBundle ?? '');
  const since = bundle === undefined ? new Map<string, number>() : servedSince(bundle);
  const entries = [...anchors].sort().map((anchor) => {
    const before = served.has(anchor) ? since.get(anchor) : undefined;
    // We never write a served-since in the future, and it would delay signing.
    return [anchor, formatTime(Math.min(before ?? now, now))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

function untilText(inherited: ReadonlyMap<string, number>): string {
  const sorted = [...inherited].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted.map(([key, time]) => [key, formatTime(time)])));
}
