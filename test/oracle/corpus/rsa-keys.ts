// SPDX-License-Identifier: Apache-2.0
import { createPublicKey, generateKeyPairSync, generatePrimeSync } from 'node:crypto';
import { NULL, bits, int, oid, seq, tlv } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { RSA_SHA256, type RequestDer } from '../../support/pki/request-der.ts';
import { rsaSpki } from '../../support/pki/rsa-spki.ts';
import { signedBy } from './bases.ts';
import type { Table } from './case.ts';

const GOOD_KEY = 'NIST SP 800-89 §5.3.3';

const rsa = (modulusLength: number, publicExponent = 65_537): RequestDer =>
  signedBy(generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey, RSA_SHA256);

const modulus = (): bigint =>
  BigInt(
    `0x${Buffer.from(createPublicKey(privateKey('RSA-2048')).export({ format: 'jwk' }).n ?? '', 'base64url').toString('hex')}`,
  );

function closePrimes(): bigint {
  const p = generatePrimeSync(1024, { bigint: true });
  let q = p + 2n;
  while (!isProbablePrime(q)) q += 2n;
  return p * q;
}

function isProbablePrime(n: bigint): boolean {
  let result = 1n;
  let base = 2n;
  for (let exponent = n - 1n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % n;
    base = (base * base) % n;
  }
  return result === 1n;
}

const KEYS: Table<() => RequestDer> = {
  'rsa-1024': ['the modulus has 1,024 bits', 'NIST SP 800-57', () => rsa(1024)],
  'rsa-512': ['the modulus has 512 bits', 'NIST SP 800-57', () => rsa(512)],
  'rsa-2040': ['the modulus has 2,040 bits', 'NIST SP 800-57', () => rsa(2040)],
  'rsa-2050': ['the modulus has 2,050 bits, which are no whole octets', GOOD_KEY, () => rsa(2050)],
  'rsa-exponent-3': ['the exponent is 3', 'CA/B BR §6.1.6', () => rsa(2048, 3)],
  'rsa-exponent-17': ['the exponent is 17', 'CA/B BR §6.1.6', () => rsa(2048, 17)],
  'rsa-exponent-1': [
    'the exponent is 1: every signature is its own message',
    GOOD_KEY,
    () => ({ spki: rsaSpki(modulus(), 1n), algorithm: RSA_SHA256 }),
  ],
  'rsa-exponent-even': [
    'the exponent is even',
    GOOD_KEY,
    () => ({ spki: rsaSpki(modulus(), 65_536n), algorithm: RSA_SHA256 }),
  ],
  'rsa-exponent-31-bits': ['', GOOD_KEY, () => rsa(2048, 2 ** 31 - 1)],
  'rsa-exponent-32-bits': [
    'the exponent has 32 bits, and Go’s limit is 31',
    'own limit',
    () => rsa(2048, 2 ** 31 + 3),
  ],
  'rsa-exponent-33-bits': [
    'the exponent has 33 bits',
    'own limit',
    () => ({ spki: rsaSpki(modulus(), 2n ** 32n + 1n), algorithm: RSA_SHA256 }),
  ],
  'rsa-modulus-even': [
    'the modulus is even',
    GOOD_KEY,
    () => ({ spki: rsaSpki(modulus() + 1n), algorithm: RSA_SHA256 }),
  ],
  'rsa-modulus-small-factor': [
    'the modulus is divisible by 751',
    GOOD_KEY,
    () => ({ spki: rsaSpki((modulus() / 751n) * 751n), algorithm: RSA_SHA256 }),
  ],
  'rsa-close-primes': [
    'the primes are close (CVE-2022-26320)',
    'FIPS 186-4 §B.3.3',
    () => ({ spki: rsaSpki(closePrimes()), algorithm: RSA_SHA256 }),
  ],
  'rsa-modulus-zero': [
    'the modulus is 0',
    'RFC 8017 §3.1',
    () => ({ spki: rsaSpki(0n), algorithm: RSA_SHA256 }),
  ],
  'rsa-modulus-negative': [
    'the modulus is negative',
    'RFC 8017 §3.1',
    () => ({
      spki: rsaOf(tlv(0x02, [0x80, ...new Uint8Array(255)]), int(1, 0, 1)),
      algorithm: RSA_SHA256,
    }),
  ],
  'rsa-modulus-padded': [
    'the modulus is padded',
    'X.690 §8.3.2',
    () => ({
      spki: rsaOf(tlv(0x02, [0, 0, ...new Uint8Array(255).fill(255)]), int(1, 0, 1)),
      algorithm: RSA_SHA256,
    }),
  ],
  'rsa-exponent-negative': [
    'the exponent is negative',
    'RFC 8017 §3.1',
    () => ({
      spki: rsaOf(tlv(0x02, [0, ...new Uint8Array(256).fill(255)]), int(0xff)),
      algorithm: RSA_SHA256,
    }),
  ],
  'rsa-no-exponent': [
    'there is no exponent',
    'RFC 8017 appendix A.1.1',
    () => ({ spki: rsaOf(tlv(0x02, [1])), algorithm: RSA_SHA256 }),
  ],
  'rsa-three-numbers': [
    'there is a third number',
    'RFC 8017 appendix A.1.1',
    () => ({ spki: rsaOf(tlv(0x02, [1]), int(1, 0, 1), int(1)), algorithm: RSA_SHA256 }),
  ],
  'rsa-16384': [
    'the modulus has 17,000 bits',
    'own limit',
    () => ({ spki: rsaSpki(2n ** 17_000n - 1n), algorithm: RSA_SHA256 }),
  ],
  'rsa-no-parameters': [
    'the NULL of the parameters is missing',
    'RFC 3279 §2.3.1',
    () => ({
      spki: seq(seq(oid('1.2.840.113549.1.1.1')), bits(seq(int(1)))),
      algorithm: RSA_SHA256,
    }),
  ],
  'rsa-parameters': [
    'the parameters are an OID',
    'RFC 3279 §2.3.1',
    () => ({
      spki: seq(seq(oid('1.2.840.113549.1.1.1'), oid('1.2.3')), bits(seq(int(1)))),
      algorithm: RSA_SHA256,
    }),
  ],
};

function rsaOf(...numbers: readonly Uint8Array[]): Uint8Array {
  return seq(seq(oid('1.2.840.113549.1.1.1'), NULL), bits(seq(...numbers)));
}

/** RSA keys that can be broken, or that are none. */
export function rsaKeys(): Table<() => RequestDer> {
  return KEYS;
}
