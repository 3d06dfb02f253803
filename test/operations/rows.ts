// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, ChangePlan } from '#operations/change-plan.ts';
import { OWN, state, verdictOf, wordsOf, type Wanted } from './signer-states.ts';

/** One law of one verb: for this state, this plan. */
export interface Row {
  readonly law: string;
  readonly wanted: Wanted;
  readonly verdict: ReturnType<typeof verdictOf>;
  readonly says: RegExp;
  readonly change?: Change;
}

/** Laws that all verbs share. */
export const unmanaged: Row = {
  law: 'a CA that is not managed is never written',
  wanted: { spec: OWN },
  verdict: 'never',
  says: /only reads Secret countersign-keys\/corp-ca/,
};
export const notObserved: Row = {
  law: 'a generation that the authority component has not observed is a preflight error',
  wanted: { observed: 0 },
  verdict: 'refused',
  says: /has not observed generation 1/,
};
export function run(
  verb: string,
  rows: readonly Row[],
  plan: (of: ReturnType<typeof state>) => ChangePlan,
): void {
  for (const { law, wanted, verdict, says, change } of rows) {
    test(`${verb}: ${law}`, () => {
      const planned = plan(state(wanted));
      assert.equal(verdictOf(planned), verdict, wordsOf(planned));
      assert.match(wordsOf(planned), says);
      if (change !== undefined) assert.deepEqual(planned.change, change);
      if (verdict === 'never' || verdict === 'nothing') assert.equal(planned.change, undefined);
    });
  }
}
