// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVING_REPORT, readReport } from '#api/serving/report.ts';
import { createLedgerFaults } from '#app/ledger/ledger-faults.ts';
import type { SenderState } from '#ledger/sender/contract.ts';
import { createServingState } from '#component/serving-state.ts';

const WELL: SenderState = { mode: 'best-effort', waiting: 0, lost: 0, failing: false };

/** The reasons and messages that the report of a Lease has, after each state and time. */
function reported(...states: readonly (readonly [seconds: number, SenderState])[]): unknown[] {
  let [now, state] = [0, WELL];
  const faults = createLedgerFaults(
    () => state,
    () => now,
  );
  const serving = createServingState({ clock: () => now, namespaced: false, faults });
  serving.checked([], []);
  return states.map(([seconds, next]) => {
    [now, state] = [seconds * 1000, next];
    const report = readReport(serving.annotations()[SERVING_REPORT] ?? '');
    return report?.faults.map(({ reason, message, stops }) => `${reason} ${stops}: ${message}`);
  });
}

test('the Lease reports a ledger outage of fifteen seconds, then how much was lost', () => {
  const away = { ...WELL, failing: true, waiting: 3 };
  assert.deepEqual(
    reported([0, away], [14, away], [15, { ...away, lost: 7 }], [40, { ...WELL, lost: 12 }]),
    [
      [],
      [],
      [
        'LedgerUnavailable false: the ledger cannot be reached: records wait in memory, and overflow is lost and counted (--ledger-mode=best-effort)',
      ],
      [
        'LedgerRecordsLost false: 12 records of one process did not reach the ledger (--ledger-mode=best-effort); a record of kind gap has the time',
      ],
    ],
  );
});

test('a restart of the ledger is in no report, and the time is counted again', () => {
  const away: SenderState = { ...WELL, mode: 'required', failing: true };
  const [first, well, again, late] = reported([0, away], [10, WELL], [16, away], [31, away]);
  assert.deepEqual([first, well, again], [[], [], []]);
  assert.match(String(late), /^LedgerUnavailable false: .*no request is answered/);
});
