// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes' quantity library: `quantity()`, `isQuantity()` and comparison, exact to a billionth.
 */
import {
  NANO,
  Quantity,
  add,
  integerOf,
  negated,
  ofInt,
  parseQuantity,
} from './quantity-arithmetic.ts';
import { PARSED, linear, toScalar, type CelFunction, type Signature } from './function.ts';

const TYPE = 'kubernetes.Quantity';

function quantity(text: string): Quantity {
  const found = parseQuantity(text);
  if (found === undefined) throw new TypeError(`"${text.slice(0, 64)}" is not a quantity`);
  return found;
}

function compare(a: Quantity, b: Quantity): bigint {
  return BigInt(Math.sign(Number(a.nano - b.nano)));
}

function asInteger(of: Quantity): bigint {
  const found = integerOf(of);
  if (found === undefined) throw new RangeError('the quantity is not a 64-bit integer');
  return found;
}

function method(
  name: string,
  parameters: string,
  returns: string,
  handler: Signature['handler'],
): CelFunction {
  const signature: Signature = { receiver: TYPE, parameters, returns, handler };
  return { name, signatures: [signature], price: linear(toScalar) };
}

/** The second operand: another quantity, or an int. */
function sum(name: string, of: (a: Quantity, b: Quantity) => Quantity): CelFunction {
  const receiver = TYPE;
  const signatures: readonly Signature[] = [
    { receiver, parameters: TYPE, returns: TYPE, handler: of },
    {
      receiver,
      parameters: 'int',
      returns: TYPE,
      handler: (a: Quantity, b: bigint) => of(a, ofInt(b)),
    },
  ];
  return { name, signatures, price: linear(toScalar) };
}

export const QUANTITIES: readonly CelFunction[] = [
  {
    name: 'quantity',
    signatures: [{ parameters: 'string', returns: TYPE, handler: quantity }],
    price: linear(toScalar, 0.5, PARSED),
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
    price: linear(toScalar, 0.5, PARSED),
  },
  method('compareTo', TYPE, 'int', compare),
  method('isGreaterThan', TYPE, 'bool', (a: Quantity, b: Quantity) => a.nano > b.nano),
  method('isLessThan', TYPE, 'bool', (a: Quantity, b: Quantity) => a.nano < b.nano),
  {
    // Kubernetes' documentation describes a method, but its code has a function.
    name: 'sign',
    signatures: [
      {
        parameters: TYPE,
        returns: 'int',
        handler: (a: Quantity) => compare(a, new Quantity(0n)),
      },
    ],
    price: linear(toScalar),
  },
  method('isInteger', '', 'bool', (a: Quantity) => integerOf(a) !== undefined),
  method('asInteger', '', 'int', asInteger),
  method('asApproximateFloat', '', 'double', (a: Quantity) => Number(a.nano) / Number(NANO)),
  sum('add', add),
  sum('sub', (a, b) => add(a, negated(b))),
];
