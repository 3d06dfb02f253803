// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { MAX_POD_LEAF_SECONDS } from '#api/signer/cluster-signer-limits.ts';
import { LONGEST_LEAF } from '#api/signer/bundle-annotations.ts';
import { LATE_SIGNING_MS, RETIRING_MARGIN_MS } from './authorities.ts';
import { attempt } from '#base/errors.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { parseDuration } from '#api/object/duration.ts';

/**
 * Returns until when anchors are needed if signing ends `now`, in milliseconds. The signer that
 * learns of the end last issues the last leaf a little later, and a verifier's clock may be late,
 * as for a CA that retires.
 *
 * If the bundle does not show how long leaves are, the last of its anchors bounds them. If the
 * anchors are unreadable, too, the end is unknown. If only the anchors are unreadable, so that
 * nothing bounds the annotation, the longest leaf of a pod does.
 */
export function lastLeafEnd(bundle: ClusterTrustBundle, now: number): number | undefined {
  const longest = secondsOf(bundle.metadata.annotations?.[LONGEST_LEAF]);
  const byLeaf = (seconds: number): number =>
    now + LATE_SIGNING_MS + seconds * 1000 + RETIRING_MARGIN_MS;
  const ends = [...publishedAnchors(bundle.spec.trustBundle).values()].flatMap(
    (each) => each?.notAfter ?? [],
  );
  // Another client may have written the annotation, which must not outlast the anchors themselves.
  if (ends.length === 0) {
    return longest > 0 ? byLeaf(Math.min(longest, MAX_POD_LEAF_SECONDS)) : undefined;
  }
  const byAnchor = Math.max(now, ...ends);
  return longest > 0 ? Math.min(byLeaf(longest), byAnchor) : byAnchor;
}

/**
 * Returns the seconds of a Go duration. Returns 0 for other text, which another client may have
 * written.
 */
export function secondsOf(text: string | undefined): number {
  const seconds = attempt(() => parseDuration(text ?? '0s'));
  return typeof seconds === 'number' ? seconds : 0;
}
