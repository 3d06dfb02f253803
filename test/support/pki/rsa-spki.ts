// SPDX-License-Identifier: Apache-2.0
import { NULL, bits, oid, seq, tlv } from './der.ts';

/** A SubjectPublicKeyInfo of any RSA numbers. */
export function rsaSpki(modulus: bigint, exponent = 65_537n): Uint8Array {
  return seq(
    seq(oid('1.2.840.113549.1.1.1'), NULL),
    bits(seq(positive(modulus), positive(exponent))),
  );
}

function positive(value: bigint): Uint8Array {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return tlv(0x02, (octets[0] ?? 0) >= 0x80 ? [0, ...octets] : octets);
}
