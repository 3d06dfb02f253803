// SPDX-License-Identifier: Apache-2.0
/** The generator of the faulty library, whose primes are k·M + (65537^a mod M). */
const GENERATOR = 65_537;

/**
 * The primes that divide M at every key size of the library (Nemec et al., "The Return of
 * Coppersmith's Attack", CCS 2017). Primes for which 65537 generates the whole group carry no
 * information, and are removed below.
 */
const PRIMES: readonly number[] = [
  3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101,
  103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

interface Fingerprint {
  readonly prime: number;
  readonly residues: ReadonlySet<number>;
}

const FINGERPRINTS: readonly Fingerprint[] = PRIMES.map((prime) => ({
  prime,
  residues: subgroup(prime),
})).filter(({ prime, residues }) => residues.size < prime - 1);

const PRODUCT = FINGERPRINTS.reduce((product, { prime }) => product * BigInt(prime), 1n);

/**
 * Reports whether an RSA modulus has the fingerprint of CVE-2017-15361 (ROCA): modulo each small
 * prime it is a power of 65537. Fewer than one sound modulus in 2²⁵ has it by chance, which a test
 * verifies.
 */
export function isRoca(modulus: bigint): boolean {
  const rest = modulus % PRODUCT;
  return FINGERPRINTS.every(({ prime, residues }) => residues.has(Number(rest % BigInt(prime))));
}

function subgroup(prime: number): ReadonlySet<number> {
  const residues = new Set<number>();
  for (let power = 1; !residues.has(power); power = (power * GENERATOR) % prime) {
    residues.add(power);
  }
  return residues;
}
