// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, Order } from '../../src/operations/order.ts';
import { OWN, situation, verdictOf, wordsOf, type Wanted } from './situations.ts';

/** One law of one verb. */
export interface Row {
  readonly law: string;
  readonly wanted: Wanted;
  readonly verdict: ReturnType<typeof verdictOf>;
  readonly says: RegExp;
  readonly change?: Change;
}

/** Laws of all verbs. */
export const own: Row = {
  law: 'the user’s own CA is never written',
  wanted: { spec: OWN },
  verdict: 'never',
  says: /only reads Secret countersign-keys\/corp-ca/,
};
export const unheard: Row = {
  law: 'an order that nobody would hear is refused',
  wanted: { observed: 0 },
  verdict: 'refused',
  says: /has not looked at generation 1/,
};
export function run(
  verb: string,
  rows: readonly Row[],
  gate: (of: ReturnType<typeof situation>) => Order,
): void {
  for (const { law, wanted, verdict, says, change } of rows) {
    test(`${verb}: ${law}`, () => {
      const order = gate(situation(wanted));
      assert.equal(verdictOf(order), verdict, wordsOf(order));
      assert.match(wordsOf(order), says);
      if (change !== undefined) assert.deepEqual(order.change, change);
      if (verdict === 'never' || verdict === 'nothing') assert.equal(order.change, undefined);
    });
  }
}
