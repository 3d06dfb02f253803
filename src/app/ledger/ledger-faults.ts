// SPDX-License-Identifier: Apache-2.0
/** Faults of the ledger that a recording component reports in its Lease. */
import type { ServingFault } from '#api/serving/report.ts';
import type { SenderState } from '#ledger/sender/contract.ts';
import type { Clock } from '#base/ports.ts';

/**
 * Grace period for a restart of the ledger. A signer's status is written for each reported fault.
 */
const PATIENCE_MILLISECONDS = 15_000;

/**
 * Returns the current faults. The caller calls it with each renewal of the Lease. The texts contain
 * no number that changes during an outage. The exact number of lost records appears afterwards.
 */
export function createLedgerFaults(
  state: () => SenderState,
  clock: Clock,
): () => readonly ServingFault[] {
  let since: number | undefined;
  return () => {
    const { mode, lost, failing } = state();
    since = failing ? (since ?? clock()) : undefined;
    if (since !== undefined) {
      if (clock() - since < PATIENCE_MILLISECONDS) return [];
      const effect =
        mode === 'required'
          ? 'no request is answered until it can (--ledger-mode=required)'
          : 'records wait in memory, and overflow is lost and counted (--ledger-mode=best-effort)';
      const message = `the ledger cannot be reached: ${effect}`;
      return [{ reason: 'LedgerUnavailable', message, stops: false }];
    }
    if (lost === 0) return [];
    const what = mode === 'required' ? 'results of certificates' : 'records';
    const message = `${lost} ${what} of one process did not reach the ledger (--ledger-mode=${mode}); a record of kind gap has the time`;
    return [{ reason: 'LedgerRecordsLost', message, stops: false }];
  };
}
