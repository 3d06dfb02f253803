// SPDX-License-Identifier: Apache-2.0
import type { Node } from './syntax.ts';

type Evaluate = (
  evaluator: { readonly run: (node: Node, context: unknown) => unknown },
  node: Extract<Node, { readonly op: 'map' }>,
  context: unknown,
) => unknown;

/** The members of a node that the package declares no type of. */
interface Evaluable {
  readonly setMeta: (key: 'evaluate', evaluate: Evaluate) => void;
}

/**
 * Makes a map literal return a Map. The library makes an object: it drops the keys `constructor`,
 * `prototype` and `__proto__`, turns numbers into strings, and changes the order. A deny that looks
 * a name up in a literal would miss a name that is such a key.
 */
export function keepEntries(node: Node): void {
  // An empty literal has no key to lose.
  if (node.op !== 'map' || node.args.length === 0) return;
  if (!isEvaluable(node)) throw new TypeError('the CEL library has another form of nodes');
  node.setMeta('evaluate', mapOf);
}

function isEvaluable(node: object): node is Evaluable {
  return 'setMeta' in node && typeof node.setMeta === 'function';
}

const mapOf: Evaluate = (evaluator, { args }, context) =>
  new Map(args.map(([key, value]) => [evaluator.run(key, context), evaluator.run(value, context)]));
