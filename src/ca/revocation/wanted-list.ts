// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { RevokedCertificate } from '#pki/x509/certificate-list.ts';

/** The content of a CRL. Times are milliseconds since 1970, in whole seconds. */
export interface WantedList {
  /** The CA whose leaves it lists, and whose key signs it. */
  readonly issuer: SigningCa;
  /** cRLNumber: larger than that of every earlier CRL of this CA (RFC 5280 §5.2.3). */
  readonly number: bigint;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** The revoked certificates, each serial number once. The list may be empty. */
  readonly revoked: readonly RevokedCertificate[];
}
