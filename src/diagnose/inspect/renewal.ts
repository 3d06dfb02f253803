// SPDX-License-Identifier: Apache-2.0
import type { InspectedCertificate, InspectedList } from './inspected.ts';

/** Time at which renewal is due: after a share of the lifetime, or within a remaining time. */
export type Threshold =
  | { readonly elapsedPercent: number }
  /** Remaining seconds below which renewal is due. */
  | { readonly leftSeconds: number };

/** A certificate, or a CRL from its thisUpdate to its nextUpdate. */
export type Renewable = Pick<InspectedCertificate, 'source' | 'subject' | 'notBefore' | 'notAfter'>;

/**
 * Returns a CRL as something to renew, with its issuer as its subject. Undefined if it has no
 * nextUpdate, so that verifiers accept it without an end.
 */
export function renewableList(list: InspectedList): Renewable | undefined {
  const { source, issuer, thisUpdate, nextUpdate } = list;
  if (nextUpdate === undefined) return undefined;
  return { source, subject: `CRL of ${issuer}`, notBefore: thisUpdate, notAfter: nextUpdate };
}

/** The verdict on one certificate or CRL. */
export interface RenewalVerdict {
  readonly source: string;
  readonly subject: string;
  readonly notAfter: string;
  /** Elapsed part of the lifetime in percent. Over 100 after expiry. */
  readonly elapsedPercent: number;
  readonly needsRenewal: boolean;
}

/**
 * Judges one certificate or CRL.
 *
 * @param now - milliseconds since 1970
 */
export function judgeRenewal(
  { source, subject, notBefore, notAfter }: Renewable,
  threshold: Threshold,
  now: number,
): RenewalVerdict {
  const [begin, end] = [Date.parse(notBefore), Date.parse(notAfter)];
  const elapsed = end > begin ? (100 * (now - begin)) / (end - begin) : Infinity;
  const needsRenewal =
    'elapsedPercent' in threshold
      ? elapsed >= threshold.elapsedPercent
      : end - now < threshold.leftSeconds * 1000;
  return { source, subject, notAfter, elapsedPercent: Math.floor(elapsed), needsRenewal };
}
