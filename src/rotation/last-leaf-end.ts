// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import { MAX_POD_LEAF_SECONDS } from '../api/signer/cluster-signer-limits.ts';
import { LONGEST_LEAF } from '../api/signer/bundle-annotations.ts';
import { LATE_SIGNING_MS, RETIRING_MARGIN_MS } from './authorities.ts';
import { attempt } from '../errors.ts';
import { publishedAnchors } from '../pki/x509/trust-bundle.ts';
import { parseDuration } from '../api/object/duration.ts';

/**
 * Until when anchors are needed if signing ends `now`; milliseconds. The last leaf is made a little
 * later, by the signer that hears of the end last, and a verifier's clock may be late: as for a CA that
 * retires.
 * Where the bundle does not say how long leaves are, no leaf outlives the last of its anchors; where
 * those cannot be read either, the end is not known. Where only those cannot be read, so that nothing bounds the annotation, the
 * longest leaf of a pod does.
 */
export function lastLeafEnd(bundle: ClusterTrustBundle, now: number): number | undefined {
  const longest = secondsOf(bundle.metadata.annotations?.[LONGEST_LEAF]);
  const byLeaf = (seconds: number): number =>
    now + LATE_SIGNING_MS + seconds * 1000 + RETIRING_MARGIN_MS;
  const ends = [...publishedAnchors(bundle.spec.trustBundle).values()].flatMap(
    (each) => each?.notAfter ?? [],
  );
  // Another client may have written the annotation: it must not outlast the anchors themselves.
  if (ends.length === 0) {
    return longest > 0 ? byLeaf(Math.min(longest, MAX_POD_LEAF_SECONDS)) : undefined;
  }
  const byAnchor = Math.max(now, ...ends);
  return longest > 0 ? Math.min(byLeaf(longest), byAnchor) : byAnchor;
}

/** Seconds of a Go duration; 0 for other text, which another client may have written. */
export function secondsOf(text: string | undefined): number {
  const seconds = attempt(() => parseDuration(text ?? '0s'));
  return typeof seconds === 'number' ? seconds : 0;
}
