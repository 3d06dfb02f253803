// SPDX-License-Identifier: Apache-2.0
import { callOf, children, comprehensionOf, typeOf, type Call, type Node } from '../syntax.ts';

/** Functions that have a result for every text, list or map. */
const TOTAL: ReadonlySet<string> = new Set([
  ...['size', 'startsWith', 'endsWith', 'contains', 'matches', 'find', 'trim', 'isIP', 'isCIDR'],
  ...['isURL', 'isQuantity', 'lowerAscii', 'upperAscii', 'family', 'getScheme', 'getHost'],
  ...['getHostname', 'getPort', 'getEscapedPath', 'sets.contains'],
  ...['sets.intersects', 'sets.equivalent'],
]);

/** Operators that have a result for all that the type check lets through. */
const TOTAL_OPERATORS: ReadonlySet<Node['op']> = new Set([
  ...(['==', '!=', '<', '<=', '>', '>=', 'in', '&&', '||', '!_', '?:', 'list'] as const),
]);

/**
 * Whether a run of the node may end in an error. Of what is not known here it may: an error that somebody
 * absorbs costs a hundred times what a node costs.
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

/** Of a map no field is known; those of the variables are. */
function isMap(node: Node): boolean {
  return /^map</.test(typeOf(node) ?? 'map<');
}
