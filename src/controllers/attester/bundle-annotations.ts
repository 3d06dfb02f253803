// SPDX-License-Identifier: Apache-2.0
import {
  RETAIN_UNTIL,
  SERVED_SINCE,
  servedSince,
  type ClusterTrustBundle,
} from '../../api/object/cluster-trust-bundle.ts';
import { formatDuration, parseDuration } from '../../api/object/duration.ts';
import { CLUSTER_SIGNER_UID } from '../../api/signer/grant.ts';
import { formatTime } from '../../api/object/time.ts';
import { SignerError, attempt } from '../../errors.ts';
import { anchorFingerprints, readAnchors } from '../../pki/x509/trust-bundle.ts';
import { LATE_SIGNING_MS, RETIRING_MARGIN_MS } from '../../rotation/authorities.ts';
import { CLUSTER_SIGNER, INHERITED, LONGEST_LEAF, SECRET_NAMESPACE } from './annotations.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';

/** The bundle's annotations: ours as they should be, others as they are. */
export function bundleAnnotations(
  input: BundleInput & {
    readonly anchors: readonly string[];
    /** Fingerprint → milliseconds until which it stays. */
    readonly inherited: ReadonlyMap<string, number>;
  },
): Readonly<Record<string, string>> {
  const { signer, bundle, inherited } = input;
  const annotations = bundle?.metadata.annotations ?? {};
  const { [RETAIN_UNTIL]: _retired, [INHERITED]: _before, ...kept } = annotations;
  const longest = (signer.status?.authorities ?? []).map((each) => secondsOf(each.longestLeaf));
  return {
    ...kept,
    [CLUSTER_SIGNER]: signer.metadata.name,
    [CLUSTER_SIGNER_UID]: signer.metadata.uid,
    [SECRET_NAMESPACE]: input.secretNamespace,
    [LONGEST_LEAF]: formatDuration(Math.max(secondsOf(kept[LONGEST_LEAF]), ...longest)),
    [SERVED_SINCE]: sinceText(input.anchors, bundle, input.now),
    ...(inherited.size === 0 ? {} : { [INHERITED]: untilText(inherited) }),
  };
}

/**
 * Until when anchors are needed if signing ends `now`; milliseconds. The last leaf is made a little
 * later, by whoever hears of the end last, and a verifier's clock may be late: as for a CA that
 * retires.
 * Where the bundle does not say how long leaves are, no leaf outlives the last of its anchors; where
 * those cannot be read either, nobody knows.
 */
export function lastLeafEnd(bundle: ClusterTrustBundle, now: number): number | undefined {
  const longest = secondsOf(bundle.metadata.annotations?.[LONGEST_LEAF]);
  if (longest > 0) return now + LATE_SIGNING_MS + longest * 1000 + RETIRING_MARGIN_MS;
  const anchors = attempt(() => readAnchors(bundle.spec.trustBundle));
  if (anchors instanceof SignerError || anchors.length === 0) return undefined;
  return Math.max(now, ...anchors.map(({ notAfter }) => notAfter));
}

/**
 * An anchor keeps its served-since only while it really is in the served bundle: one that was edited
 * out and put back was not there for a while, and counts from now.
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
    // What begins to be served later than now was not written by us, and would hold up signing.
    return [anchor, formatTime(Math.min(before ?? now, now))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

function untilText(inherited: ReadonlyMap<string, number>): string {
  const sorted = [...inherited].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted.map(([key, time]) => [key, formatTime(time)])));
}

/** What somebody else wrote there need not be a duration. */
function secondsOf(text: string | undefined): number {
  const seconds = attempt(() => parseDuration(text ?? '0s'));
  return typeof seconds === 'number' ? seconds : 0;
}

/** What a bundle is made of. */
export interface BundleInput {
  readonly signer: ClusterSigner;
  /** The bundle as served, if there is one. */
  readonly bundle: ClusterTrustBundle | undefined;
  readonly secretNamespace: string;
  readonly now: number;
  /** Our clock contradicts the API server's: no trust ends by either. */
  readonly clocksApart: boolean;
}
