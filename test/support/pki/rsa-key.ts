// SPDX-License-Identifier: Apache-2.0
import { checkPrimeSync, createHash, createPrivateKey, type KeyObject } from 'node:crypto';

const EXPONENT = 65_537n;

/**
 * How far each prime is from the number that its name hashes to, in steps of two: what a search
 * finds, written down, since searches take most of the time of an RSA key. A name that is not here
 * is searched for.
 */
const KNOWN_STEPS: Readonly<Record<string, number>> = {
  'RSA-1024/ p': 407,
  'RSA-1024/ q': 3,
  'RSA-2048/ p': 1697,
  'RSA-2048/ q': 449,
  'RSA-3072/ p': 578,
  'RSA-3072/ q': 74,
  'RSA-4096/ p': 1188,
  'RSA-4096/ q': 1493,
};

/** An RSA key that is the same in every run. */
export function rsaKey(name: string, modulusLength: number): KeyObject {
  const [p, q] = ['p', 'q'].map((factor) => prime(`${name} ${factor}`, modulusLength / 2)) as [
    bigint,
    bigint,
  ];
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n) };
  const parts = Object.entries({ ...numbers, qi: inverse(q, p) });
  const jwk = Object.fromEntries(parts.map(([part, value]) => [part, base64Url(value)]));
  return createPrivateKey({ key: { kty: 'RSA', ...jwk }, format: 'jwk' });
}

function prime(name: string, size: number): bigint {
  const hash = createHash('shake256', { outputLength: size / 8 })
    .update(name)
    .digest('hex');
  // The two highest bits, so that a product has twice the size, and the lowest.
  const start = BigInt(`0x${hash}`) | (3n << BigInt(size - 2)) | 1n;
  const known = KNOWN_STEPS[name];
  if (known !== undefined) return start + 2n * BigInt(known);
  for (let found = start; ; found += 2n) {
    // Of a number that nobody chose to deceive, one round says enough.
    if (found % EXPONENT !== 1n && checkPrimeSync(found, { checks: 1 })) return found;
  }
}

/** x with `value · x ≡ 1 (mod modulus)`. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [r, next, x, nextX] = [modulus, value % modulus, 0n, 1n];
  while (next > 0n) {
    const quotient = r / next;
    [r, next] = [next, r - quotient * next];
    [x, nextX] = [nextX, x - quotient * nextX];
  }
  return ((x % modulus) + modulus) % modulus;
}

function base64Url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
}
