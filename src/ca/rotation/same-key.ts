// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';

/** An anchor with the identity of its key. */
interface KnownAnchor {
  readonly fingerprint: string;
  readonly key: string;
  /** Milliseconds. */
  readonly notAfter: number;
}

/** Cached for each status, because cached objects are replaced, never changed. */
const cached = new WeakMap<ClusterSignerStatus, readonly KnownAnchor[]>();

/**
 * Returns the anchors of a status: those of its CAs, and those that it retains of an earlier
 * ClusterSigner.
 */
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
 * Returns all anchors with the same keys, which become distrusted together. A stolen key signs
 * below every certificate of it, such as one that its owner renewed with the same key, or one under
 * another name.
 *
 * @param known - the anchors to search
 * @param fingerprints - of distrusted anchors
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

/** @param anchors - by fingerprint. Undefined ones could not be decoded, and are omitted. */
export function knownAnchors(
  anchors: ReadonlyMap<string, Certificate | undefined>,
): readonly KnownAnchor[] {
  return [...anchors].flatMap(([fingerprint, certificate]) => {
    if (certificate === undefined) return [];
    const { publicKey, notAfter } = certificate;
    return { fingerprint, key: Buffer.from(publicKey.spki).toString('base64'), notAfter };
  });
}
