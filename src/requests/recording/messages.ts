// SPDX-License-Identifier: Apache-2.0
/** Texts about recording and facts, by where users read them. */

// Log and /readyz

export const LEDGER_READABLE = 'the ledger can be read again';
export const LEDGER_UNREADABLE = 'the ledger cannot be read for facts';

export function factsSinceStart(fault: string): string {
  return `the ledger cannot be read, so facts are those since the start: ${fault}`;
}

export const ENDLESS_PAGES = 'its pages do not end';
export const NOT_IN_ORDER = 'it is not in order';

// Flags

export const FACTS_HELP =
  'read events before the start from the ledger of --ledger; the role must allow get and list of records (default: only what this process has seen)';

// Refused flags

export const LEDGER_NEEDED = '--ledger-facts needs --ledger, the address of the component ledger';
