// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { SenderState } from '../../ledger/sender/contract.ts';
import { checkSignerName } from '../../api/signer/signer-name.ts';
import { usageError } from '../../errors.ts';
import { quote } from '../../quote.ts';
import { positiveFlag } from '../flag-values.ts';

/** How a component records: not at all, before each answer, or without waiting. */
export type LedgerMode = 'off' | SenderState['mode'];

/** The flags of components that record in the ledger what they issue and refuse. */
export interface LedgerOptions {
  readonly ledgerMode?: LedgerMode;
  readonly ledger?: URL;
  readonly ledgerToken?: string;
  readonly ledgerCa?: string;
  readonly ledgerName?: string;
  readonly ledgerWaiting?: number;
}

/** Makes and rotates CAs, whatever becomes of the ledger: it never waits for it. */
const AUTHORITY = 'authority';

/** The components that record in the ledger what they issue and refuse. */
export const RECORDING_COMPONENTS: readonly string[] = [
  ...['approver', 'signer', 'pcr-issuer', 'certificate-request', 'acme', AUTHORITY],
];

const MODES: readonly LedgerMode[] = ['off', 'required', 'best-effort'];

/** Where the manifests mount the token for the ledger, and the CA of its port. */
const DIRECTORY = '/run/countersign/ledger';

/** Some 40 MB of records; at 100 certificates a second it bridges a minute and a half. */
const MOST_WAITING = 10_000;

/** Adds the flags of {@link LedgerOptions}. */
export function addLedgerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--ledger-mode <mode>',
        'off: record nothing; required: answer no request before the ledger has its record (authority never waits); best-effort: answer at once, and count what the ledger never gets',
      )
        .choices(MODES)
        .default('off'),
    )
    .addOption(new Option('--ledger <url>', 'address of the component ledger').argParser(httpsFlag))
    .option(
      '--ledger-token <file>',
      'token of this component for the ledger; read again for each batch',
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
    )
    .addOption(
      new Option(
        '--ledger-waiting <count>',
        'most records that wait in memory while the ledger is away; more are lost, and counted',
      )
        .argParser(positiveFlag)
        .default(MOST_WAITING),
    );
}

/** The flag of components that read the ledger. */
export interface FactsOptions {
  readonly ledgerFacts?: boolean;
}

/** Adds the flag of {@link FactsOptions}. */
export function addFactsOption(command: Command): Command {
  return command.option(
    '--ledger-facts',
    'read from the ledger what happened before the start: its role lets it get and list records (default: it goes by what it has seen)',
  );
}

/** Whether a component waits for the ledger before it answers. */
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
 * The address to record at; undefined where nothing is recorded.
 *
 * @throws SignerError USAGE where there is a mode and no address
 */
export function ledgerUrlOf({ ledgerMode = 'off', ledger }: LedgerOptions): URL | undefined {
  if (ledgerMode === 'off') return undefined;
  if (ledger !== undefined) return ledger;
  const message = `--ledger-mode=${ledgerMode} needs --ledger, the address of the component ledger`;
  throw usageError(message);
}

/**
 * Reads `<component>=<signer name>`.
 *
 * @throws SignerError USAGE, SIGNER_NAME_INVALID
 */
export function parseGrant(text: string): {
  readonly component: string;
  readonly signerName: string;
} {
  const [, component = '', signerName = ''] = /^([a-z-]+)=(.+)$/.exec(text) ?? [];
  if (!RECORDING_COMPONENTS.includes(component)) {
    const message = `${quote(text)} names no component that appends; write <component>=<signer name> with one of ${RECORDING_COMPONENTS.join(', ')}`;
    throw usageError(message);
  }
  checkSignerName(signerName);
  return { component, signerName };
}
