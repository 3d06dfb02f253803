// SPDX-License-Identifier: Apache-2.0

/** `make test-oracle` sets this; without it only what fits into `make test` is run. */
export const isLong = process.env['ORACLE'] === 'long';

export function inShortOrLong(short: number, long: number): number {
  return isLong ? long : short;
}

/** Mutations of a run, by the value of ORACLE in the Makefile. */
export const MUTATIONS = {
  /** `make oracle`, a part of `make test`. */
  short: 10_000,
  /** `make test-oracle-mutations`. */
  mutations: 100_000,
  /** `make test-oracle`. */
  long: 2_000_000,
};

/** Parts of {@link MUTATIONS} by what is mutated. */
export const SHARES = { requests: 0.4, certificates: 0.4, chains: 0.1, pem: 0.05, bundles: 0.05 };

/**
 * Returns how many mutations of a kind a run compares.
 *
 * @param form - the value of ORACLE
 */
export function mutationsOf(
  kind: keyof typeof SHARES,
  form = process.env['ORACLE'] ?? 'short',
): number {
  if (!isForm(form)) {
    throw new Error(`ORACLE=${form}: want one of ${Object.keys(MUTATIONS).join(', ')}`);
  }
  return Math.round(MUTATIONS[form] * SHARES[kind]);
}

function isForm(form: string): form is keyof typeof MUTATIONS {
  return form in MUTATIONS;
}
