// SPDX-License-Identifier: Apache-2.0
import { APPEND_PATH, MAX_BATCH_BYTES } from '../index.ts';
import type { Log } from '#base/ports.ts';
import type { HttpsServer } from '#component/web/https-server.ts';
import { serveLedger, type LedgerServerInit } from '#component/web/ledger-server.ts';
import { serveLists, type CrlServerInit } from './crl-server.ts';
import type { RunningServer } from '#component/web/server.ts';
import type { Host } from '#component/host.ts';
import type { LedgerFlags } from './flags.ts';

/** The port of the ledger. */
export type LedgerPort = HttpsServer;

/** The port of CRLs. */
export type CrlPort = RunningServer;

/**
 * Opens the port where components append.
 * @throws SignerError USAGE if it cannot be opened
 */
export function openLedgerPort(
  { flags, clock, delay }: Pick<Host<LedgerFlags>, 'flags' | 'clock' | 'delay'>,
  parts: Pick<LedgerServerInit, 'append' | 'file' | 'api' | 'clientCa'> & { readonly log: Log },
): Promise<LedgerPort> {
  return serveLedger({
    listen: flags.listenLedger,
    flag: '--listen-ledger',
    directory: flags.servingCertificate,
    clock,
    delay,
    appendPath: APPEND_PATH,
    maxBytes: MAX_BATCH_BYTES,
    ...parts,
    // The port with /metrics reports the expiry of the same certificate.
    measureNotAfter: () => undefined,
  });
}

/**
 * Opens the port where verifiers fetch CRLs.
 *
 * @throws SignerError USAGE if it cannot be opened
 */
export function openCrlPort(
  { flags, clock }: Pick<Host<LedgerFlags>, 'flags' | 'clock'>,
  lists: Pick<CrlServerInit, 'listOf' | 'isComplete'>,
): Promise<CrlPort> {
  return serveLists({ ...lists, listen: flags.listenCrl, clock });
}
