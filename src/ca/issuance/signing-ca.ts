// SPDX-License-Identifier: Apache-2.0
import type { Validity } from './validity.ts';
import type { Random } from '#base/ports.ts';

/** The public facts of the CA that will sign. */
export interface SigningCa extends Validity {
  /**
   * `sha256:<hex>` of the CA certificate's DER. Only this CA can consume a
   * PreparedCertificate made for it.
   */
  readonly fingerprint: string;
  /** DER Name: the leaf's issuer, byte for byte the CA's subject (RFC 5280 §4.1.2.4). */
  readonly subject: Uint8Array;
  /** The CA's SubjectKeyIdentifier, which becomes the leaf's AuthorityKeyIdentifier. */
  readonly keyIdentifier: Uint8Array;
  /** DER AlgorithmIdentifier of its signatures. */
  readonly signatureAlgorithm: Uint8Array;
}

/**
 * Octets of a serial number. RFC 5280 §4.1.2.2 allows 20, but a 20th with its top bit set would
 * need a 21st, so Boulder stops at 19. Sixteen hold 126 random bits, twice what CA/B BR §7.1
 * requires.
 */
const SERIAL_BYTES = 16;

/**
 * Returns a new positive serial number, big-endian, always {@link SERIAL_BYTES} long in DER: the
 * two top bits are 01. Verifiers reject certificates with a negative one.
 *
 * @throws the error of `random`: without randomness nothing is signed
 */
export function newSerial(random: Random): Uint8Array {
  const serial = Uint8Array.from(random(SERIAL_BYTES));
  if (serial.length !== SERIAL_BYTES) throw new Error('the random source returned too few bytes');
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}
