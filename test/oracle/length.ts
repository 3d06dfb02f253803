// SPDX-License-Identifier: Apache-2.0

/** `make test-oracle` sets this; without it only what fits into `make test` is run. */
export const isLong = process.env['ORACLE'] === 'long';

export function inShortOrLong(short: number, long: number): number {
  return isLong ? long : short;
}
