// SPDX-License-Identifier: Apache-2.0
/**
 * Parses and stores quantities exactly like apimachinery's `resource.Quantity`, including its
 * quirks. A suffix needs no digits ("G" is 0). Amounts with a binary suffix are capped at 2⁶³−1. An
 * amount that does not fit into 64 bits when it is parsed is never an integer.
 */

/** `value` · 10^`scale`, in 64 bits. */
interface Small {
  readonly value: bigint;
  readonly scale: number;
}

export class Quantity {
  /** Amount in billionths of the unit, the smallest step of resource.Quantity. */
  readonly nano: bigint;
  /** Absent if Go stores the amount with arbitrary precision. */
  readonly small: Small | undefined;

  constructor(nano: bigint, small?: Small) {
    this.nano = nano;
    this.small = small;
  }
}

/**
 * A sign, digits, a fraction, a suffix. Go allows more digits and any exponent. The limits of 64
 * digits and an exponent of 99 prevent a hostile string from creating a number that fills the
 * memory.
 */
const SHAPE =
  /^(?=.)([+-]?)([0-9]*)(\.[0-9]{0,64})?(n|u|m|k|[KMGTPE]i|[MGTPE]|[eE][+-]?[0-9]{1,2})?$/;

const MAX_DIGITS = 64;

export const NANO = 1_000_000_000n;
const NANO_SCALE = -9;
const LARGEST = 2n ** 63n - 1n;

/** Decimal digits of a number that always fits into 64 bits. */
const SAFE_DIGITS = 18;
/** The digits that Go allows a mantissa with a binary suffix, minus those of the suffix itself. */
const SAFE_BINARY_DIGITS = 14;

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** The parts of a quantity string, without its sign. */
interface QuantityParts {
  readonly digits: string;
  /** Digits of the decimal fraction. */
  readonly decimals: number;
  /** Suffix as a power of two. 0 for a decimal suffix. */
  readonly binary: number;
  readonly mantissa: bigint;
  readonly scale: number;
}

export function parseQuantity(text: string): Quantity | undefined {
  const found = SHAPE.exec(text);
  if (found === null) return undefined;
  const [, sign, padded = '', fraction = '', suffix = ''] = found;
  const whole = withoutZeros(padded);
  if (whole.length > MAX_DIGITS) return undefined;
  const amount = amountOf(read((whole || '0') + fraction.slice(1), fraction.length - 1, suffix));
  // Go accepts a number without digits only on the path that reads no digits.
  const hasDigit = /[0-9]/.test(text.slice(0, text.length - suffix.length));
  if (amount.small === undefined && !hasDigit) return undefined;
  return sign === '-' ? negated(amount) : amount;
}

/** Removes leading zeros, which would cause backtracking in SHAPE. */
function withoutZeros(digits: string): string {
  return digits.replace(/^0+/, '');
}

function amountOf(written: QuantityParts): Quantity {
  const { binary, mantissa: value, scale } = written;
  const nano = toNano(value, scale);
  if (isSmall(written)) return new Quantity(nano, { value, scale });
  return new Quantity(binary > 0 && nano > LARGEST * NANO ? LARGEST * NANO : nano);
}

function read(digits: string, after: number, suffix: string): QuantityParts {
  const binary = 10 * Math.max(0, BINARY.indexOf(suffix));
  const exponent = binary > 0 ? 0 : (DECIMAL[suffix] ?? Number(suffix.slice(1)));
  const decimals = Math.max(0, after);
  const mantissa = BigInt(digits) * 2n ** BigInt(binary);
  return { digits, decimals, binary, mantissa, scale: exponent - decimals };
}

/**
 * Reports whether Go stores it in 64 bits. The number of digits decides this before they are
 * parsed.
 */
function isSmall({ digits, decimals, binary, mantissa, scale }: QuantityParts): boolean {
  if (binary === 0) return digits.length <= SAFE_DIGITS && scale >= NANO_SCALE;
  const isSafe = digits.length + Math.trunc(binary * 0.3) <= SAFE_BINARY_DIGITS;
  return isSafe && decimals === 0 && mantissa <= LARGEST;
}

/** Rounds up to a whole billionth. */
function toNano(mantissa: bigint, scale: number): bigint {
  const exponent = scale - NANO_SCALE;
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (mantissa + divisor - 1n) / divisor;
}

/** Returns the amount as an int, or undefined if Go has none. */
export function integerOf({ small }: Quantity): bigint | undefined {
  if (small === undefined || small.scale < 0) return undefined;
  return inBits(small.value * 10n ** BigInt(small.scale));
}

export function ofInt(value: bigint): Quantity {
  return new Quantity(value * NANO, { value, scale: 0 });
}

export function add(a: Quantity, b: Quantity): Quantity {
  const small = a.small && b.small && addSmall(a.small, b.small);
  return new Quantity(a.nano + b.nano, small);
}

export function negated({ nano, small }: Quantity): Quantity {
  return new Quantity(-nano, small && { ...small, value: -small.value });
}

/** Returns the sum in the finer of the two scales, or undefined beyond 64 bits. */
function addSmall(a: Small, b: Small): Small | undefined {
  if (b.value === 0n) return a;
  if (a.value === 0n) return b;
  const scale = Math.min(a.scale, b.scale);
  const [left, right] = [a, b].map((each) =>
    inBits(each.value * 10n ** BigInt(each.scale - scale)),
  );
  if (left === undefined || right === undefined) return undefined;
  const value = inBits(left + right);
  return value === undefined ? undefined : { value, scale };
}

function inBits(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
