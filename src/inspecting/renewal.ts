// SPDX-License-Identifier: Apache-2.0
import type { InspectedCertificate } from './inspected.ts';

/** When a certificate is due: after a share of its life, or before its last part. */
export type Threshold =
  | { readonly elapsedPercent: number }
  /** How much may be left, in seconds. */
  | { readonly leftSeconds: number };

/** One certificate, judged. */
export interface RenewalVerdict {
  readonly source: string;
  readonly subject: string;
  readonly notAfter: string;
  /** Of its life, in percent; over 100 once it has expired. */
  readonly elapsedPercent: number;
  readonly needsRenewal: boolean;
}

/** Judges one certificate. @param now - milliseconds since 1970 */
export function judgeRenewal(
  { source, subject, notBefore, notAfter }: InspectedCertificate,
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
