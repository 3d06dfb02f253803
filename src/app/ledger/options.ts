// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { SenderState } from '#ledger/sender/contract.ts';
import { usageError } from '#base/errors.ts';
import type { LedgerAddressFlags } from '#ledger/sender/ledger-address.ts';
import { positiveFlag } from '../flag-values.ts';

/** Recording mode of a component: off, before each response, or without waiting. */
export type LedgerMode = 'off' | SenderState['mode'];

/** The flags of components that record the certificates that they issue and refuse. */
export interface LedgerOptions extends LedgerAddressFlags {
  readonly ledgerMode?: LedgerMode;
  readonly ledgerWaiting?: number;
}

/** The component that makes and rotates CAs. It never waits for the ledger. */
const AUTHORITY = 'authority';

const MODES: readonly LedgerMode[] = ['off', 'required', 'best-effort'];

/** Mount path of the ledger token and of the CA of the ledger's port. */
const DIRECTORY = '/run/countersign/ledger';

/**
 * Default of --ledger-waiting. It takes some 40 MB and bridges a minute and a half at 100
 * certificates a second.
 */
const MAX_QUEUED_RECORDS = 10_000;

/** Adds the flags of {@link LedgerOptions}. */
export function addLedgerOptions(command: Command): Command {
  command.addOption(
    new Option(
      '--ledger-mode <mode>',
      'off: record nothing; required: answer no request before the ledger has its record (authority never waits); best-effort: answer at once, and count what the ledger never gets',
    )
      .choices(MODES)
      .default('off'),
  );
  return addLedgerAddressOptions(command).addOption(
    new Option(
      '--ledger-waiting <count>',
      'most records that wait in memory while the ledger is away; more are lost, and counted',
    )
      .argParser(positiveFlag)
      .default(MAX_QUEUED_RECORDS),
  );
}

/** Adds the flags of {@link LedgerAddressFlags}. */
export function addLedgerAddressOptions(command: Command): Command {
  return command
    .addOption(new Option('--ledger <url>', 'address of the component ledger').argParser(httpsFlag))
    .option(
      '--ledger-token <file>',
      'token of this component for the ledger; read again for each request',
      `${DIRECTORY}/token`,
    )
    .option(
      '--ledger-ca <file>',
      'PEM of the CAs that the certificate of the ledger may be of',
      `${DIRECTORY}/ca.crt`,
    )
    .option(
      '--ledger-name <name>',
      'DNS name in the certificate of the ledger (default: the host of --ledger)',
    );
}

/** Reports whether a component waits for the ledger before it answers. */
export function waitsForLedger(name: string, { ledgerMode }: LedgerOptions): boolean {
  return ledgerMode === 'required' && name !== AUTHORITY;
}

/** @throws InvalidArgumentError */
function httpsFlag(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.pathname === '/') return url;
  throw new InvalidArgumentError(
    'write https://<host>:<port>, such as https://countersign-ledger.countersign-system.svc:8444',
  );
}

/**
 * Returns the address for recording, or undefined if recording is off.
 * @throws SignerError USAGE for a mode without an address
 */
export function ledgerUrlOf({ ledgerMode = 'off', ledger }: LedgerOptions): URL | undefined {
  if (ledgerMode === 'off') return undefined;
  if (ledger !== undefined) return ledger;
  const message = `--ledger-mode=${ledgerMode} needs --ledger, the address of the component ledger`;
  throw usageError(message);
}
