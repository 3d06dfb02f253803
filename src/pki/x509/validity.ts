// SPDX-License-Identifier: Apache-2.0
import type { X509Certificate } from 'node:crypto';

/** The validity of a certificate, in milliseconds since 1970. */
export interface CertificateTimes {
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Returns the validity that OpenSSL reads, or undefined if a time is malformed. OpenSSL reads such
 * a certificate and verifies its signature. Only the text of the time then shows the fault: Node.js
 * makes the date of uninitialized memory, so it may be any date.
 */
export function validityOf({
  validFrom,
  validTo,
  validFromDate,
  validToDate,
}: X509Certificate): CertificateTimes | undefined {
  const [notBefore, notAfter] = [validFromDate.getTime(), validToDate.getTime()];
  // OpenSSL writes a malformed time as `Bad time value`.
  const all = [Date.parse(validFrom), Date.parse(validTo), notBefore, notAfter];
  return all.some(Number.isNaN) ? undefined : { notBefore, notAfter };
}
