// SPDX-License-Identifier: Apache-2.0
import { inputError } from '../der/input-error.ts';
import { bitLength, decodeRsaNumbers, type RsaNumbers } from './rsa-numbers.ts';
import { isSmallOrder } from './curves.ts';
import type { PublicKeyInfo } from './public-key.ts';
import { unsignedBigInt } from '../der/der-values.ts';
import { isRoca } from './roca.ts';
import { areFactorsClose } from './fermat.ts';

/**
 * Rejects keys whose private key can be computed or guessed. ca/policy/violations/keys.ts checks
 * whether a profile accepts the type, and requests/pcr-issuer/requested-key.ts does so for pods.
 *
 * @throws SignerError KEY_WEAK
 */
export function checkKey(key: PublicKeyInfo): void {
  const weakness = weaknessOf(key);
  if (weakness !== undefined) {
    throw inputError('KEY_WEAK', `the ${key.algorithm} key ${weakness}; make a new key`);
  }
}

function weaknessOf(key: PublicKeyInfo): string | undefined {
  if (key.algorithm === 'RSA') return rsaWeakness(decodeRsaNumbers(key.bytes));
  if (key.algorithm !== 'ED25519') return undefined;
  // NIST curves have cofactor 1, and no weak keys of ML-DSA are known.
  return isSmallOrder(key.bytes) ? 'is a point of small order' : undefined;
}

/** The minimum for 112 bits of security (NIST SP 800-57 part 1, table 2). */
const MIN_STRONG_RSA_BITS = 2048;

/** The limit above which a verification costs too much. Go's crypto/tls has the same limit. */
const MAX_VERIFIABLE_RSA_BITS = 8192;

/** The minimum of CA/Browser Forum BR §6.1.6. Below it, attacks on faulty padding checks work. */
const MIN_RSA_EXPONENT = 65_537;

/** The primes below 752, none of which may be a factor (CA/Browser Forum BR §6.1.6). */
const SMALL_PRIMES = primesBelow(752);

const PRODUCT_OF_SMALL_PRIMES = SMALL_PRIMES.reduce((product, prime) => product * prime, 1n);

/**
 * Returns the weakness of an RSA key as a predicate, or undefined. These are Boulder's checks
 * (goodkey/good_key.go).
 */
function rsaWeakness({ modulus, exponent }: RsaNumbers): string | undefined {
  const bits = bitLength(modulus);
  if (bits < MIN_STRONG_RSA_BITS) return `has ${bits} bits, fewer than ${MIN_STRONG_RSA_BITS}`;
  if (bits > MAX_VERIFIABLE_RSA_BITS)
    return `has ${bits} bits, more than ${MAX_VERIFIABLE_RSA_BITS}`;
  if (bits % 8 !== 0) return `has ${bits} bits, which is not a multiple of 8`;
  if (exponent < MIN_RSA_EXPONENT || exponent % 2 === 0) {
    return `has the exponent ${exponent}, which is even or less than ${MIN_RSA_EXPONENT}`;
  }
  const n = unsignedBigInt(modulus);
  if (hasSmallFactor(n)) return 'has a modulus with a small factor';
  if (isRoca(n)) return 'was made by faulty Infineon hardware (ROCA, CVE-2017-15361)';
  return areFactorsClose(n) ? 'has factors that are too close (CVE-2022-26320)' : undefined;
}

function hasSmallFactor(modulus: bigint): boolean {
  const rest = modulus % PRODUCT_OF_SMALL_PRIMES;
  return SMALL_PRIMES.some((prime) => rest % prime === 0n);
}

function primesBelow(limit: number): readonly bigint[] {
  const primes: number[] = [];
  for (let n = 2; n < limit; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes.map(BigInt);
}
