// SPDX-License-Identifier: Apache-2.0
/** Boulder's number (CheckPrimeFactorsTooClose): finds every factor pair of CVE-2022-26320. */
export const FERMAT_ROUNDS = 100;

/**
 * Fermat's factorisation for a few rounds: n = a² − b² is found at once when the factors a + b and
 * a − b are close. Sound random primes are never found.
 */
export function areFactorsClose(n: bigint): boolean {
  let a = squareRoot(n);
  if (a * a === n) return true;
  a += 1n;
  let b2 = a * a - n;
  for (let round = 0; round < FERMAT_ROUNDS; round++) {
    if (isSquare(b2)) return true;
    b2 += 2n * a + 1n;
    a += 1n;
  }
  return false;
}

/** Moduli whose squares are few: one number in 150 passes all, and only those get a square root. */
const SIEVES: readonly ReadonlySet<number>[] = [64, 63, 65, 11].map(
  (modulus) => new Set(Array.from({ length: modulus }, (_, i) => (i * i) % modulus)),
);
const SIEVE_MODULI: readonly bigint[] = [64n, 63n, 65n, 11n];

function isSquare(n: bigint): boolean {
  const maybe = SIEVE_MODULI.every(
    (modulus, index) => SIEVES[index]?.has(Number(n % modulus)) === true,
  );
  if (!maybe) return false;
  const root = squareRoot(n);
  return root * root === n;
}

/** The whole part of a square root, by Newton from above: some 15 steps for 4096 bits. */
export function squareRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}
