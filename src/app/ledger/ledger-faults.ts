// SPDX-License-Identifier: Apache-2.0
/** What a component that records says of the ledger in the report of its Lease. */
import type { ServingFault } from '../../api/serving/report.ts';
import type { SenderState } from '../../ledger/sender/contract.ts';
import type { Clock } from '../../ports.ts';

/** A ledger that is restarted is no fault: everything that a signer's status says is written for each of them. */
const PATIENCE_MILLISECONDS = 15_000;

/**
 * The faults of now; called with each renewal of the Lease. The texts have no number that changes while the ledger is away:
 * how many are lost is said, exactly, when it is back.
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
          : 'records wait, and what finds no room is lost and counted (--ledger-mode=best-effort)';
      const message = `the ledger cannot be reached: ${effect}`;
      return [{ reason: 'LedgerUnavailable', message, stops: false }];
    }
    if (lost === 0) return [];
    const what = mode === 'required' ? 'results of certificates' : 'records';
    const message = `${lost} ${what} of one process did not reach the ledger (--ledger-mode=${mode}); a record of kind gap says when`;
    return [{ reason: 'LedgerRecordsLost', message, stops: false }];
  };
}
