// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, ChangePlan } from '../../src/operations/change-plan.ts';
import { OWN, state, verdictOf, wordsOf, type Wanted } from './signer-states.ts';

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
  gate: (of: ReturnType<typeof state>) => ChangePlan,
): void {
  for (const { law, wanted, verdict, says, change } of rows) {
    test(`${verb}: ${law}`, () => {
      const order = gate(state(wanted));
      assert.equal(verdictOf(order), verdict, wordsOf(order));
      assert.match(wordsOf(order), says);
      if (change !== undefined) assert.deepEqual(order.change, change);
      if (verdict === 'never' || verdict === 'nothing') assert.equal(order.change, undefined);
    });
  }
}
