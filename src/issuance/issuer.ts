// SPDX-License-Identifier: Apache-2.0
import type { Validity } from './validity.ts';

/** What `prepare` must know of the CA that will sign; public facts only. */
export interface Issuer extends Validity {
  /** `sha256:<hex>` of the CA certificate's DER: a Prepared can be redeemed by this CA only. */
  readonly fingerprint: string;
  /** DER Name: the leaf's issuer, byte for byte the CA's subject (RFC 5280 §4.1.2.4). */
  readonly subject: Uint8Array;
  /** The CA's SubjectKeyIdentifier, which becomes the leaf's AuthorityKeyIdentifier. */
  readonly keyIdentifier: Uint8Array;
  /** DER AlgorithmIdentifier of its signatures. */
  readonly signatureAlgorithm: Uint8Array;
}
