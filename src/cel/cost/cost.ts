// SPDX-License-Identifier: Apache-2.0
/**
 * The worst-case cost of an expression: its cost if every list and string were as large as its
 * shape allows. CEL has no recursion and no unbounded loops, so the walk below always ends. The
 * unit is one visited node, about 20 ns.
 */
import { SCALAR, boundOf, larger, listOf, sum, volume, type Bound } from './bound.ts';
import type { Environment } from '../environments.ts';
import { mayThrow } from './may-throw.ts';
import { PRICES } from '../library.ts';
import {
  callOf,
  children,
  comprehensionOf,
  sourceLength,
  type Call,
  type Comprehension,
  type Node,
} from '../syntax.ts';

/** Cost of evaluating a node, and the maximum size of its value. */
interface Estimate {
  readonly cost: number;
  readonly bound: Bound;
}

interface Scope {
  readonly variables: ReadonlyMap<string, Bound>;
  /** Cost of an error that is thrown, then absorbed by `exists`, `all`, `||` or `&&`. */
  readonly error: number;
}

/** A comparison reads equal sides to the end. */
const PER_COMPARED = 0.01;
/** `<` and its like compare texts character by character, by code points. */
const PER_ORDERED = 0.5;
const ORDERS: ReadonlySet<Node['op']> = new Set(['<', '<=', '>', '>='] as const);
/** Cost of `in`: one item of a list, and one equal character of it. */
const PER_LIST_ITEM = 0.2;
const PER_EQUAL_CHARACTER = 0.002;
/** Cost of copying a character, and an item. */
const PER_COPIED = 0.02;
const PER_COPIED_ITEM = 1;
/** Cost of joining lists of any length, which creates them again. */
const PER_JOINED_LIST = 60;
/** Cost of one iteration without its body: bind the variable, keep the result. */
const PER_ITERATION = 2;

/**
 * Cost to create, throw, and catch an error without a stack, about 3 µs. compile.ts disables
 * stacks.
 */
const ERROR = 160;
/**
 * The library finds the line of the error and copies it: 3 ns for each character of the expression.
 */
const ERROR_CHARACTER = 0.16;

/** Returns the worst-case cost of one run. */
export function costOf(node: Node, environment: Environment): number {
  const variables = new Map(
    Object.entries(environment.variables).map(([name, shape]) => [name, boundOf(shape)]),
  );
  const error = ERROR + ERROR_CHARACTER * sourceLength(node);
  return estimate(node, { variables, error }).cost;
}

function estimate(node: Node, scope: Scope): Estimate {
  const call = callOf(node);
  if (call !== undefined) return estimateCall(call, scope);
  if (node.op === 'value') return constant(node.args);
  if (node.op === 'id') return { cost: 1, bound: scope.variables.get(node.args) ?? SCALAR };
  if (node.op === 'map') return literalMap(node.args, scope);
  const parts = children(node).map((each) => estimate(each, scope));
  if (node.op === '||' || node.op === '&&') return either(node, parts, scope);
  if (node.op === 'list') return literal(parts);
  if (node.op === '.') return field(parts[0], node.args[1]);
  return operator(node.op, parts);
}

/** Estimates `||` and `&&`, which absorb an error of one side if the other side decides. */
function either(node: Node, parts: readonly Estimate[], { error }: Scope): Estimate {
  const errors = error * children(node).filter(mayThrow).length;
  return { cost: 1 + total(parts) + errors, bound: SCALAR };
}

function constant(value: unknown): Estimate {
  if (typeof value === 'string') return { cost: 1, bound: { size: value.length, text: value } };
  return { cost: 1, bound: value instanceof Uint8Array ? { size: value.length } : SCALAR };
}

function field(of: Estimate | undefined, name: string): Estimate {
  const { cost, bound } = of ?? constant(undefined);
  return { cost: cost + 1, bound: bound.fields?.[name] ?? bound.of ?? SCALAR };
}

function literal(items: readonly Estimate[]): Estimate {
  const of = items.map((each) => each.bound).reduce(larger, SCALAR);
  return { cost: 1 + total(items), bound: listOf(items.length, of) };
}

function literalMap(entries: readonly (readonly [Node, Node])[], scope: Scope): Estimate {
  const keys = literal(entries.map(([key]) => estimate(key, scope)));
  const values = literal(entries.map(([, value]) => estimate(value, scope)));
  return {
    cost: keys.cost + values.cost,
    bound: { ...values.bound, keys: keys.bound.of ?? SCALAR },
  };
}

function operator(op: Node['op'], parts: readonly Estimate[]): Estimate {
  const [left = SCALAR, right = SCALAR, third = SCALAR] = parts.map((each) => each.bound);
  const spent = 1 + total(parts);
  if (op === '?:') return { cost: spent, bound: larger(right, third) };
  if (op === '[]') return { cost: spent, bound: left.of ?? SCALAR };
  if (op === 'in') return { cost: spent + searched(left, right), bound: SCALAR };
  if (op === '+') {
    const bound = sum(left, right);
    return { cost: spent + copied(bound), bound };
  }
  const each = ORDERS.has(op) ? PER_ORDERED : PER_COMPARED;
  return { cost: spent + each * Math.min(volume(left), volume(right)), bound: SCALAR };
}

/** Returns the cost of `+`. */
function copied({ size, of }: Bound): number {
  return of === undefined ? PER_COPIED * size : PER_JOINED_LIST + PER_COPIED_ITEM * size;
}

/**
 * Returns the cost of `in`. A map is hashed. A list is scanned, and its strings may share a long
 * prefix.
 */
function searched(item: Bound, within: Bound): number {
  const read = PER_COMPARED * volume(item);
  if (within.keys !== undefined) return read;
  const each = within.of ?? SCALAR;
  const alike =
    PER_EQUAL_CHARACTER * Math.min(volume(item), volume(each)) +
    (item.of === undefined ? 0 : item.size);
  return within.size * (PER_LIST_ITEM + alike) + read;
}

function estimateCall(call: Call, scope: Scope): Estimate {
  if (call.name === 'has' && call.receiver === undefined) return { cost: 4, bound: SCALAR };
  const loop = comprehensionOf(call);
  if (loop !== undefined) return estimateLoop(call.name, loop, scope);
  const operands = call.receiver === undefined ? call.args : [call.receiver, ...call.args];
  const parts = operands.map((each) => estimate(each, scope));
  const bounds = parts.map((each) => each.bound);
  const price = PRICES.get(call.key);
  if (price === undefined)
    throw new TypeError(`function ${call.key} has no price; the validator must refuse it`);
  return { cost: 2 + total(parts) + price.cost(bounds), bound: price.result(bounds) };
}

function estimateLoop(
  name: string,
  { range, variable, body }: Comprehension,
  scope: Scope,
): Estimate {
  const over = estimate(range, scope);
  const item = over.bound.keys ?? over.bound.of ?? SCALAR;
  const variables = new Map(scope.variables);
  if (variable.op === 'id') variables.set(variable.args, item);
  const parts = body.map((each) => estimate(each, { ...scope, variables }));
  const round = PER_ITERATION + total(parts) + (absorbsErrors(name, body) ? scope.error : 0);
  const cost = over.cost + 1 + over.bound.size * round;
  if (name === 'filter') return { cost, bound: listOf(over.bound.size, item) };
  if (name === 'map') {
    return { cost, bound: listOf(over.bound.size, parts.at(-1)?.bound ?? SCALAR) };
  }
  return { cost, bound: SCALAR };
}

/** Reports whether a loop absorbs errors. Other loops end with the first error. */
function absorbsErrors(name: string, body: readonly Node[]): boolean {
  return (name === 'all' || name === 'exists') && body.some(mayThrow);
}

function total(parts: readonly Estimate[]): number {
  return parts.reduce((cost, each) => cost + each.cost, 0);
}
