// SPDX-License-Identifier: Apache-2.0
/** Helpers for the syntax tree of the CEL library. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { NAMESPACES } from './library.ts';

export type Node = ASTNode;

/** `receiver.name(args)`, or `name(args)` without a receiver. */
export interface Call {
  readonly name: string;
  /** The name with its namespace, if it has one: `sets.contains`. */
  readonly key: string;
  readonly receiver: Node | undefined;
  readonly args: readonly Node[];
}

export function callOf(node: Node): Call | undefined {
  if (node.op === 'call') {
    const [name, args] = node.args;
    return { name, key: name, receiver: undefined, args };
  }
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, args] = node.args;
  if (receiver.op === 'id' && NAMESPACES.has(receiver.args)) {
    return { name, key: `${receiver.args}.${name}`, receiver: undefined, args };
  }
  return { name, key: name, receiver, args };
}

/** A macro that loops: `list.all(x, …)`, `exists`, `filter`, `map` and so on. */
export interface Comprehension {
  readonly range: Node;
  readonly variable: Node;
  readonly body: readonly Node[];
}

const COMPREHENSIONS: ReadonlySet<string> = new Set([
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
]);

export function comprehensionOf(call: Call): Comprehension | undefined {
  const [variable, ...body] = call.args;
  if (call.receiver === undefined || variable === undefined) return undefined;
  if (!COMPREHENSIONS.has(call.name)) return undefined;
  return { range: call.receiver, variable, body };
}

/** The operands of a node, in source order. */
export function children(node: Node): readonly Node[] {
  const call = callOf(node);
  if (call !== undefined) return [...(call.receiver ? [call.receiver] : []), ...call.args];
  if (node.op === 'map') return node.args.flat();
  // The rest are operators and lists of nodes, and '.' with the name of a field.
  return [node.args].flat().filter(isNode);
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && 'op' in part && 'args' in part;
}

/** The type that `check()` found; the library stores it on the node. */
export function typeOf(node: Node): string | undefined {
  return (node as { readonly checkedType?: { readonly name: string } }).checkedType?.name;
}

/** The offset that an error message about the node points to, in UTF-16 units. */
export function offsetOf(node: Node): number {
  return node.pos;
}

/** Characters of the expression that contains the node. */
export function sourceLength(node: Node): number {
  return (node as { readonly input?: string }).input?.length ?? 0;
}
