// SPDX-License-Identifier: Apache-2.0
/** Apart from its flags: only `ledger` loads the server. */
import { APPEND_PATH, MOST_BATCH_BYTES } from '../../ledger/index.ts';
import type { Log } from '../../ports.ts';
import type { HttpsServer } from '../../web/https-server.ts';
import { serveLedger, type LedgerServerInit } from '../../web/ledger-server.ts';
import { serveLists, type CrlServerInit } from './crl-server.ts';
import type { RunningServer } from '../../web/server.ts';
import { clock, delay } from '../process.ts';

/** The port of the ledger. */
export type LedgerPort = HttpsServer;

/** The port of CRLs. */
export type CrlPort = RunningServer;

/**
 * Opens the port where components append.
 *
 * @throws SignerError USAGE if it cannot be opened
 */
export function openLedgerPort(
  options: { readonly listenLedger: string; readonly servingCertificate: string },
  parts: Pick<LedgerServerInit, 'append' | 'file' | 'api' | 'clientCa'> & { readonly log: Log },
): Promise<LedgerPort> {
  return serveLedger({
    ...{ listen: options.listenLedger, flag: '--listen-ledger' },
    ...{ directory: options.servingCertificate, clock, delay },
    ...{ appendPath: APPEND_PATH, mostBytes: MOST_BATCH_BYTES },
    ...parts,
    // The port with /metrics has the same certificate, and says so.
    measureNotAfter: () => undefined,
  });
}

/**
 * Opens the port where verifiers fetch CRLs.
 *
 * @throws SignerError USAGE if it cannot be opened
 */
export function openCrlPort(
  listen: string,
  lists: Pick<CrlServerInit, 'listOf' | 'isComplete'>,
): Promise<CrlPort> {
  return serveLists({ ...lists, listen, clock });
}
