// SPDX-License-Identifier: Apache-2.0
import type { Monotonic } from '#base/ports.ts';
import { cachedFileReader } from './cached-file.ts';
import type { LedgerAddress } from './connection.ts';

/** Flags with the ledger's address and the component's credentials. */
export interface LedgerAddressFlags {
  readonly ledger?: URL;
  readonly ledgerToken?: string;
  readonly ledgerCa?: string;
  readonly ledgerName?: string;
}

/** Returns the address of the ledger, with readers for the current token and CAs. */
export function addressOf(
  url: URL,
  { ledgerToken = '', ledgerCa = '', ledgerName }: LedgerAddressFlags,
  monotonic: Monotonic,
): LedgerAddress {
  return {
    url,
    readToken: cachedFileReader(ledgerToken, monotonic),
    readCa: cachedFileReader(ledgerCa, monotonic),
    serverName: ledgerName,
  };
}
