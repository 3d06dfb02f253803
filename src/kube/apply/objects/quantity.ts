// SPDX-License-Identifier: Apache-2.0

const FORMAT = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Returns the value of a quantity (apimachinery: resource.Quantity), or undefined for an invalid
 * one.
 */
export function quantityValue(quantity: string | number): number | undefined {
  const match = FORMAT.exec(String(quantity));
  if (match === null) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = match;
  if (exponent !== '') return Number(digits + exponent);
  const binary = BINARY.indexOf(suffix);
  if (binary >= 0) return Number(digits) * 1024 ** (binary + 1);
  return Number(`${digits}e${DECIMAL[suffix] ?? 0}`);
}

/** Reports whether two quantities are equal. The API server rewrites `1000m` as `1`. */
export function isSameQuantity(a: unknown, b: unknown): boolean {
  const isText = (each: unknown): each is string | number =>
    typeof each === 'string' || typeof each === 'number';
  if (!isText(a) || !isText(b)) return false;
  const value = quantityValue(a);
  return value !== undefined && value === quantityValue(b);
}
