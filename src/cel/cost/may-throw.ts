// SPDX-License-Identifier: Apache-2.0
import { callOf, children, comprehensionOf, typeOf, type Call, type Node } from '../syntax.ts';

/** Functions that return a result for every string, list or map. */
const TOTAL: ReadonlySet<string> = new Set([
  'size',
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'find',
  'trim',
  'isIP',
  'isCIDR',
  'isURL',
  'isQuantity',
  'lowerAscii',
  'upperAscii',
  'family',
  'getScheme',
  'getHost',
  'getHostname',
  'getPort',
  'getEscapedPath',
  'sets.contains',
  'sets.intersects',
  'sets.equivalent',
]);

/** Operators that return a result for all operands that pass the type check. */
const TOTAL_OPERATORS: ReadonlySet<Node['op']> = new Set([
  ...(['==', '!=', '<', '<=', '>', '>=', 'in', '&&', '||', '!_', '?:', 'list'] as const),
]);

/**
 * Reports whether evaluating the node may throw. Functions not listed here may. An absorbed error
 * costs a hundred times as much as a node, so the estimate must not miss one.
 */
export function mayThrow(node: Node): boolean {
  const call = callOf(node);
  if (call !== undefined) return callMayThrow(call);
  if (node.op === 'value' || node.op === 'id') return false;
  if (node.op === '.') return isMap(node.args[0]) || mayThrow(node.args[0]);
  const isSum = node.op === '+' && typeOf(node) === 'string';
  return !(isSum || TOTAL_OPERATORS.has(node.op)) || children(node).some(mayThrow);
}

function callMayThrow(call: Call): boolean {
  if (call.name === 'has' && call.receiver === undefined) return false;
  const loop = comprehensionOf(call);
  if (loop !== undefined) return [loop.range, ...loop.body].some(mayThrow);
  if (!TOTAL.has(call.key)) return true;
  return [...(call.receiver === undefined ? [] : [call.receiver]), ...call.args].some(mayThrow);
}

/**
 * Reports whether the node is a map, whose field may be missing. The fields of a variable exist.
 */
function isMap(node: Node): boolean {
  return /^map</.test(typeOf(node) ?? 'map<');
}
