// SPDX-License-Identifier: Apache-2.0
import { gauge } from '#component/metric.ts';

/** The series of components that record in the ledger. */
export const SENDER_SERIES = {
  waiting: gauge(
    'countersign_ledger_waiting_records',
    'Records of this component that wait for the ledger.',
  ),
  lost: gauge(
    'countersign_ledger_lost_records',
    'Records of this process that are lost: the ledger will not receive them.',
  ),
  failing: gauge(
    'countersign_ledger_failing',
    '1 while the last batch failed to reach the ledger. In mode required, no request is answered then.',
    ['mode'],
  ),
};
