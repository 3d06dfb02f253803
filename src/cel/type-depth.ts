// SPDX-License-Identifier: Apache-2.0
import { callOf, children, comprehensionOf, type Call, type Node } from './syntax.ts';

/**
 * Limit on the depth of a value's type: `list<map<string, string>>` has a depth of two. The CEL
 * library keeps every type that it has seen for as long as the process lives. Without a limit, a
 * namespace that keeps writing expressions with new types would exhaust the memory. Up to this
 * depth there are some 26,000 types.
 */
export const MAX_TYPE_DEPTH = 4;

/** The deepest variable: `map<string, list<string>>`. */
const VARIABLE = 2;
/** Functions return scalars, or lists of them. */
const RESULT = 1;

/** Depths of the loop variables in scope. */
type Scope = ReadonlyMap<string, number>;

/** Returns the depth of the type of a node. */
type DepthOf = (node: Node, scope: Scope) => number;

/**
 * Returns an upper bound of the depth of all types in an expression, before the library creates
 * them.
 */
export function typeDepth(root: Node): number {
  let deepest = 0;
  const depthOf: DepthOf = (node, scope) => {
    const depth = nodeDepth(node, scope, depthOf);
    deepest = Math.max(deepest, depth);
    return depth;
  };
  depthOf(root, new Map());
  return deepest;
}

function nodeDepth(node: Node, scope: Scope, depthOf: DepthOf): number {
  if (node.op === 'value') return 0;
  if (node.op === 'id') return scope.get(node.args) ?? VARIABLE;
  const call = callOf(node);
  if (call !== undefined) return callDepth(call, scope, depthOf);
  const inner = Math.max(0, ...children(node).map((each) => depthOf(each, scope)));
  return node.op === 'list' || node.op === 'map' ? inner + 1 : inner;
}

function callDepth(call: Call, scope: Scope, depthOf: DepthOf): number {
  const loop = comprehensionOf(call);
  if (loop === undefined) {
    const operands = call.receiver === undefined ? call.args : [call.receiver, ...call.args];
    for (const each of operands) depthOf(each, scope);
    return RESULT;
  }
  const range = depthOf(loop.range, scope);
  const { variable } = loop;
  const name = variable.op === 'id' ? variable.args : '';
  const within = new Map(scope).set(name, Math.max(0, range - 1));
  const body = Math.max(0, ...loop.body.map((each) => depthOf(each, within)));
  // `filter` returns its range.
  return Math.max(range, call.name === 'map' ? body + 1 : 0);
}
