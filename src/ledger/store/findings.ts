// SPDX-License-Identifier: Apache-2.0
/** What a check of a ledger finds. */
import type { StoredLog } from './logs.ts';

/** What is wrong, and where. */
export interface LedgerFinding {
  readonly what: 'tile' | 'checkpoint' | 'record' | 'missing';
  /** The log's origin. */
  readonly log: string;
  readonly message: string;
}

/** Findings that a report lists; more of them say nothing new. */
const LISTED = 100;
/** Gathers what is found. */
export class Findings {
  readonly listed: LedgerFinding[] = [];
  found = 0;

  add(what: LedgerFinding['what'], { origin }: StoredLog, message: string): void {
    this.found += 1;
    if (this.listed.length < LISTED) this.listed.push({ what, log: origin, message });
  }
}
