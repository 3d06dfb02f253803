// SPDX-License-Identifier: Apache-2.0
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import type { ForeignBundle } from './read-bundle.ts';
import { trustDomainOf } from './trust-domain.ts';
import * as messages from './messages.ts';

/** Inputs to judge a fetched bundle. */
export interface BundleCriteria {
  readonly trustDomain: string;
  /** Sequence number of the latest accepted bundle. */
  readonly sequence: bigint | undefined;
  /** Names of our own trust domains. */
  readonly ownDomains: readonly string[];
  /** Reports whether a certificate or its key is one of our own CAs, or is distrusted. */
  readonly isManaged: (certificate: Certificate) => boolean;
}

/** Reason why a bundle is rejected. */
export interface BundleRefusal {
  /** CamelCase. */
  readonly reason: 'SequenceDecreased' | 'OwnTrustDomain' | 'TrustDomainMismatch' | 'OwnAnchor';
  readonly message: string;
}

/**
 * Judges the bundle of another trust domain. After a rejection the accepted bundle stays until its
 * bound.
 *
 * @returns undefined if the bundle is accepted
 */
export function judgeBundle(
  { anchors, sequence }: ForeignBundle,
  by: BundleCriteria,
): BundleRefusal | undefined {
  const known = by.sequence;
  if (known !== undefined && sequence !== undefined && sequence < known) {
    const message = messages.sequenceDecreased(known, sequence);
    return { reason: 'SequenceDecreased', message };
  }
  for (const anchor of anchors) {
    const refusal = judgeAnchor(anchor, by);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function judgeAnchor(
  anchor: Certificate,
  { trustDomain, ownDomains, isManaged }: BundleCriteria,
): BundleRefusal | undefined {
  for (const uri of anchor.sans.uris) {
    // Verifiers compare SPIFFE IDs without regard to case (SPIFFE-ID §2.1).
    const claimed = trustDomainOf(uri.toLowerCase());
    if (claimed === undefined || claimed === trustDomain) continue;
    const of = messages.foreignCa(uri);
    if (ownDomains.includes(claimed))
      return { reason: 'OwnTrustDomain', message: messages.ofOwnDomain(of) };
    return { reason: 'TrustDomainMismatch', message: messages.ofOtherDomain(of) };
  }
  if (!isManaged(anchor)) return undefined;
  const message = messages.ownOrDistrustedCa(fingerprint(anchor.raw));
  return { reason: 'OwnAnchor', message };
}
