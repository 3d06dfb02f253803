// SPDX-License-Identifier: Apache-2.0
/** Helpers for the syntax tree of the CEL library. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { NAMESPACES } from './library.ts';

export type Node = ASTNode;

/** `receiver.name(args)`, or `name(args)` without a receiver. */
export interface Call {
  readonly name: string;
  /** Name with its namespace, if it has one: `sets.contains`. */
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

/** A macro that loops: `list.all(x, …)`, `exists`, `filter`, `map`, and others. */
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

/** Returns the operands of a node, in source order. */
export function children(node: Node): readonly Node[] {
  const call = callOf(node);
  if (call !== undefined) return [...(call.receiver ? [call.receiver] : []), ...call.args];
  if (node.op === 'map') return node.args.flat();
  // The rest are operators, lists of nodes, and '.' with the name of a field.
  return [node.args].flat().filter(isNode);
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && 'op' in part && 'args' in part;
}

/** Returns the type that `check()` found and stored on the node. */
export function typeOf(node: Node): string | undefined {
  const type: unknown = 'checkedType' in node ? node.checkedType : undefined;
  if (typeof type !== 'object' || type === null || !('name' in type)) return undefined;
  return typeof type.name === 'string' ? type.name : undefined;
}

/** Returns the offset for an error message about the node, in UTF-16 units. */
export function offsetOf(node: Node): number {
  return node.pos;
}

/** Returns the number of characters of the expression that contains the node. */
export function sourceLength(node: Node): number {
  return 'input' in node && typeof node.input === 'string' ? node.input.length : 0;
}
