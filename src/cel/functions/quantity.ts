// SPDX-License-Identifier: Apache-2.0
/** Kubernetes' quantity library: quantity(), isQuantity() and comparison, exact to nanounits. */
import { linear, toScalar, type CelFunction, type Signature } from './function.ts';

export class Quantity {
  /** A thousand-millionth of the unit: the finest that resource.Quantity keeps. */
  readonly nano: bigint;

  constructor(nano: bigint) {
    this.nano = nano;
  }
}

const SHAPE =
  /^([+-]?)([0-9]{1,30})?(?:\.([0-9]{0,30}))?(n|u|m|k|[KMGTPE]i|[MGTPE]|[eE][+-]?[0-9]{1,2})?$/;

const NANO = 1_000_000_000n;
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

function parseQuantity(text: string): Quantity | undefined {
  const [matched, sign, whole = '', fraction = '', suffix = ''] = SHAPE.exec(text) ?? [];
  if (matched === undefined || whole + fraction === '') return undefined;
  const { numerator, denominator } = scale(suffix);
  const divisor = 10n ** BigInt(fraction.length) * denominator;
  const product = BigInt(whole + fraction) * numerator * NANO;
  // Finer than a nanounit is rounded away from zero (resource.ParseQuantity).
  const nano = (product + divisor - 1n) / divisor;
  return new Quantity(sign === '-' ? -nano : nano);
}

function scale(suffix: string): { numerator: bigint; denominator: bigint } {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { numerator: 1024n ** BigInt(binary), denominator: 1n };
  const exponent = DECIMAL[suffix] ?? Number(suffix.slice(1));
  return exponent < 0
    ? { numerator: 1n, denominator: 10n ** BigInt(-exponent) }
    : { numerator: 10n ** BigInt(exponent), denominator: 1n };
}

function quantity(text: string): Quantity {
  const found = parseQuantity(text);
  if (found === undefined) throw new TypeError(`"${text.slice(0, 64)}" is not a quantity`);
  return found;
}

function compare(a: Quantity, b: Quantity): bigint {
  return BigInt(Math.sign(Number(a.nano - b.nano)));
}

function asInteger({ nano }: Quantity): bigint {
  const whole = nano / NANO;
  if (nano % NANO !== 0n || BigInt.asIntN(64, whole) !== whole) {
    throw new RangeError('the quantity is not an integer of 64 bits');
  }
  return whole;
}

function method(
  name: string,
  parameters: string,
  returns: string,
  handler: Signature['handler'],
): CelFunction {
  const signature: Signature = { receiver: 'kubernetes.Quantity', parameters, returns, handler };
  return { name, signatures: [signature], price: linear(toScalar) };
}

const TYPE = 'kubernetes.Quantity';

export const QUANTITIES: readonly CelFunction[] = [
  {
    name: 'quantity',
    signatures: [{ parameters: 'string', returns: TYPE, handler: quantity }],
    price: linear(toScalar, 0.5),
  },
  {
    name: 'isQuantity',
    signatures: [
      {
        parameters: 'string',
        returns: 'bool',
        handler: (text: string) => parseQuantity(text) !== undefined,
      },
    ],
    price: linear(toScalar, 0.5),
  },
  method('compareTo', TYPE, 'int', compare),
  method('isGreaterThan', TYPE, 'bool', (a: Quantity, b: Quantity) => a.nano > b.nano),
  method('isLessThan', TYPE, 'bool', (a: Quantity, b: Quantity) => a.nano < b.nano),
  method('sign', '', 'int', (a: Quantity) => compare(a, new Quantity(0n))),
  method('isInteger', '', 'bool', (a: Quantity) => a.nano % NANO === 0n),
  method('asInteger', '', 'int', asInteger),
  method('asApproximateFloat', '', 'double', (a: Quantity) => Number(a.nano) / Number(NANO)),
  method('add', TYPE, TYPE, (a: Quantity, b: Quantity) => new Quantity(a.nano + b.nano)),
  method('sub', TYPE, TYPE, (a: Quantity, b: Quantity) => new Quantity(a.nano - b.nano)),
];
