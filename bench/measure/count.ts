// SPDX-License-Identifier: Apache-2.0

/** A whole number from a bench's argument. @throws Error for anything else, or less than `least` */
export function count(name: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least) {
    throw new Error(`--${name} ${text}: want a whole number of at least ${least}`);
  }
  return number;
}
