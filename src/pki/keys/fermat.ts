// SPDX-License-Identifier: Apache-2.0
/**
 * The number of rounds in Boulder (goodkey, checkPrimeFactorsTooClose): enough for all keys of
 * CVE-2022-26320.
 */
const FERMAT_ROUNDS = 100;

/**
 * Runs Fermat's factorization for {@link FERMAT_ROUNDS} rounds. It finds n = a² − b² quickly when
 * the factors a + b and a − b are close. It never finds factors that are random primes.
 *
 * @param n - an odd modulus
 * @returns whether `n` was factored
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

/**
 * Moduli with few squares. One number in 150 passes all of them, and only that gets a square root.
 */
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

/**
 * Returns the integer part of a square root, by Newton's method from above: about 15 steps for 4096
 * bits.
 */
function squareRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}
