// SPDX-License-Identifier: Apache-2.0
/** Findings of a check of a ledger. */
import type { StoredLog } from './logs.ts';

/** A fault and its place. */
export interface LedgerFinding {
  readonly what: 'tile' | 'checkpoint' | 'record' | 'column' | 'missing';
  /** The log's origin. */
  readonly log: string;
  readonly message: string;
}

/** Findings that a report lists at most. More of them add no information. */
const LISTED = 100;
/** Collects findings. */
export class Findings {
  readonly listed: LedgerFinding[] = [];
  found = 0;

  add(what: LedgerFinding['what'], { origin }: Pick<StoredLog, 'origin'>, message: string): void {
    this.found += 1;
    if (this.listed.length < LISTED) this.listed.push({ what, log: origin, message });
  }
}
