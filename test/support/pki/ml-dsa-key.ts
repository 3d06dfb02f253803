// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { implicit, int, octets, oid, seq } from './der.ts';

const EXPANDED_BYTES = 4032;
const SEED_BYTES = 32;

/** The three forms of an ML-DSA-65 private key in PKCS#8 (RFC 9881 §6). */
export const ML_DSA_FORMS = ['seed', 'expandedKey', 'both'] as const;

export type MlDsaForm = (typeof ML_DSA_FORMS)[number];

export interface MlDsaSecrets {
  readonly seed: Uint8Array;
  readonly expanded: Uint8Array;
}

/** The seed and the expanded key of a key that node:crypto made: it writes both. */
export function secretsOf(key: KeyObject): MlDsaSecrets {
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const expanded = der.subarray(-EXPANDED_BYTES);
  // Before the expanded key stand its tag and three octets of length, before these the seed.
  const end = der.length - EXPANDED_BYTES - 4;
  return { seed: der.subarray(end - SEED_BYTES, end), expanded };
}

/** DER PKCS#8 of an ML-DSA-65 key in one of the forms of RFC 9881 §6. */
export function mlDsaPkcs8(form: MlDsaForm, { seed, expanded }: MlDsaSecrets): Uint8Array {
  const contents = {
    seed: () => implicit(0, seed),
    expandedKey: () => octets(expanded),
    both: () => seq(octets(seed), octets(expanded)),
  };
  return seq(int(0), seq(oid('2.16.840.1.101.3.4.3.18')), octets(contents[form]()));
}
