// SPDX-License-Identifier: Apache-2.0
/** Connects a component that reads the ledger, as configured by its flags. */
import { usageError } from '#base/errors.ts';
import type { Monotonic } from '#base/ports.ts';
import { createLedgerConnection } from '#ledger/sender/connection.ts';
import { addressOf, type LedgerAddressFlags } from '#ledger/sender/ledger-address.ts';
import { createLedgerReader, type LedgerReader } from '#ledger/sender/reader.ts';
import type { FactsFlags } from './facts-access.ts';
import * as messages from './messages.ts';

/** The flags of components that read the ledger, with its address. */
export interface ReaderFlags extends LedgerAddressFlags, FactsFlags {}

/**
 * Returns a reader that connects on its first call, because the ledger may start later. Returns
 * undefined if reading is off.
 * @throws SignerError USAGE if the flags enable facts without an address
 */
export function openReader(flags: ReaderFlags, monotonic: Monotonic): LedgerReader | undefined {
  const { ledgerFacts, ledger } = flags;
  if (ledgerFacts !== true) return undefined;
  if (ledger === undefined) throw usageError(messages.LEDGER_NEEDED);
  return createLedgerReader(createLedgerConnection(addressOf(ledger, flags, monotonic)));
}
