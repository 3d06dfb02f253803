// SPDX-License-Identifier: Apache-2.0
import { fingerprint, type Certificate } from '../pki/x509/certificate.ts';
import { quote } from '../quote.ts';
import type { ForeignBundle } from './read-bundle.ts';
import { trustDomainOf } from './trust-domain.ts';

/** What a fetched bundle is judged by. */
export interface JudgedBy {
  readonly trustDomain: string;
  /** Sequence number of the bundle that was accepted last. */
  readonly sequence: bigint | undefined;
  /** Names of our own trust domains. */
  readonly ownDomains: readonly string[];
  /** Whether a certificate, or its key, is one of our own CAs, or is distrusted. */
  readonly isOurs: (certificate: Certificate) => boolean;
}

/** Why a bundle is not taken. */
export interface BundleRefusal {
  /** CamelCase. */
  readonly reason: 'SequenceWentBack' | 'OwnTrustDomain' | 'OtherTrustDomain' | 'OwnAnchor';
  readonly message: string;
}

/**
 * Judges the bundle of another trust domain. A refused one changes nothing: what was accepted before stays until its bound.
 *
 * @returns undefined where it is taken
 */
export function judgeBundle(
  { anchors, sequence }: ForeignBundle,
  by: JudgedBy,
): BundleRefusal | undefined {
  const known = by.sequence;
  if (known !== undefined && sequence !== undefined && sequence < known) {
    const message = `spiffe_sequence went back from ${known} to ${sequence}: an older bundle, or another server`;
    return { reason: 'SequenceWentBack', message };
  }
  for (const anchor of anchors) {
    const refusal = judgeAnchor(anchor, by);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function judgeAnchor(
  anchor: Certificate,
  { trustDomain, ownDomains, isOurs }: JudgedBy,
): BundleRefusal | undefined {
  for (const uri of anchor.sans.uris) {
    // Verifiers compare SPIFFE IDs without regard to case (SPIFFE-ID §2.1).
    const claimed = trustDomainOf(uri.toLowerCase());
    if (claimed === undefined || claimed === trustDomain) continue;
    const of = `it has a CA of ${quote(uri, 80)}`;
    if (ownDomains.includes(claimed))
      return { reason: 'OwnTrustDomain', message: `${of}, which is our own trust domain` };
    return { reason: 'OtherTrustDomain', message: `${of}, which is another trust domain` };
  }
  if (!isOurs(anchor)) return undefined;
  const message = `it has CA ${fingerprint(anchor.raw)}, which is ours, has a key of ours, or is distrusted`;
  return { reason: 'OwnAnchor', message };
}
