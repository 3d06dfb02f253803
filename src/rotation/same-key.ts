// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '../api/signer/cluster-signer.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { publishedAnchors } from '../pki/x509/trust-bundle.ts';

/** An anchor, and what its key is known by. */
interface KnownAnchor {
  readonly fingerprint: string;
  readonly key: string;
  /** Milliseconds. */
  readonly notAfter: number;
}

/** Decoded once for each status: cached objects are replaced, never changed. */
const cached = new WeakMap<ClusterSignerStatus, readonly KnownAnchor[]>();

/** The anchors of a status: those of its CAs, and those that it retains of an earlier ClusterSigner. */
export function anchorsKnownTo(status: ClusterSignerStatus | undefined): readonly KnownAnchor[] {
  if (status === undefined) return [];
  const before = cached.get(status);
  if (before !== undefined) return before;
  const { authorities = [], retainedAnchors = [] } = status;
  const texts = [
    ...authorities.map(({ anchors }) => anchors ?? ''),
    ...retainedAnchors.map(({ anchor }) => anchor),
  ];
  const known = knownAnchors(publishedAnchors(texts.join('\n')));
  cached.set(status, known);
  return known;
}

/**
 * A key that was stolen signs below every certificate of it: one that its owner renewed with the same key, or one under
 * another name. So these leave trust together.
 *
 * @param known - the anchors that are looked through
 * @param fingerprints - of anchors that are out of trust
 * @returns the fingerprints of all `known` anchors with a key of one of those, which are among them
 */
export function withSameKey(
  known: readonly KnownAnchor[],
  fingerprints: ReadonlySet<string>,
): readonly string[] {
  const keys = new Set(
    known.filter((each) => fingerprints.has(each.fingerprint)).map(({ key }) => key),
  );
  return known.filter(({ key }) => keys.has(key)).map((each) => each.fingerprint);
}

/** @param anchors - by fingerprint; undefined for what could not be decoded, which is left out */
export function knownAnchors(
  anchors: ReadonlyMap<string, Certificate | undefined>,
): readonly KnownAnchor[] {
  return [...anchors].flatMap(([fingerprint, certificate]) => {
    if (certificate === undefined) return [];
    const { publicKey, notAfter } = certificate;
    return { fingerprint, key: Buffer.from(publicKey.spki).toString('base64'), notAfter };
  });
}
