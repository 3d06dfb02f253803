// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import { gather } from '#app/flag-values.ts';
import { addFlags } from '#cli/component-flags.ts';
import { addScopeOptions, outputOption } from '#cli/list-options.ts';
import { addLedgerPlace, addUserOptions } from '#cli/user-options.ts';
import type { EraseOptions } from './erase.ts';
import type { ExportOptions } from './export.ts';
import type { KeysOptions } from './keys.ts';
import type { RotateKeyOptions } from './rotate-key.ts';
import type { MigrateOptions } from './migrate.ts';
import type { SearchOptions } from './search.ts';
import type { ShowRecordOptions } from './show.ts';
import type { VerifyOptions } from './verify.ts';
import type { VerifyProofOptions } from './verify-proof.ts';
import { DATABASE_FLAGS } from '#ledger/database-flags.ts';

const DEFAULT_LIMIT = 100;

const EXIT_CODES = '\nExit code: 0 found; 1 an error; 3 nothing is found.';

/**
 * Adds the verbs of `countersign ledger`, which users run with their own permissions. `migrate`
 * runs beside the database. `countersign ledger` alone runs the component.
 */
export function addLedgerVerbs(ledger: Command): void {
  // Flags before the verb belong to the component.
  ledger.enablePositionalOptions();
  addSearch(ledger);
  addShow(ledger);
  addProve(ledger);
  addVerify(ledger);
  addVerifyProof(ledger);
  addExport(ledger);
  addErase(ledger);
  addKeys(ledger);
  addRotateKey(ledger);
  addMigrate(ledger);
  rejectUnknownVerbs(ledger);
}

function rejectUnknownVerbs(ledger: Command): void {
  ledger.allowExcessArguments(true).hook('preAction', (_command, action) => {
    const [unknown] = action === ledger ? action.args : [];
    if (unknown === undefined) return;
    const verbs = ledger.commands.map((each) => each.name()).join(', ');
    ledger.error(`error: unknown verb "${unknown}" of ledger; use one of ${verbs}`);
  });
}

/** Adds the flags of the user and of the ledger's address. */
function addReaderOptions(command: Command): Command {
  return addUserOptions(addLedgerPlace(command));
}

/** Adds the flags that select records. The server's fields have the same names in camel case. */
function addChoice(command: Command): Command {
  return addScopeOptions(command, 'records')
    .option('--serial <hex>', 'serial number of the certificate')
    .option('--fingerprint <hex>', 'SHA-256 of the certificate')
    .option('--san <name>', 'subject alternative name: DNS name, IP address, URI or email')
    .option('--spiffe <id>', 'SPIFFE ID')
    .option('--subject <name>', 'common name of the certificate')
    .option('--pod <name>', 'namespace/name of the pod; with -n its name')
    .option('--pod-uid <uid>', 'UID of the pod')
    .option('--service-account <name>', 'namespace/name of the ServiceAccount; with -n its name')
    .option('--user <name>', 'username of the requester')
    .option('--node <name>', 'node that requested for the pod')
    .option('--signer <name>', 'signer name')
    .option('--ca <hex>', 'SHA-256 of the CA’s certificate')
    .option('--rule <name>', 'rule that allowed or denied it')
    .option('--request <uid>', 'UID of the request')
    .option('--kind <kind>', 'issued, approved, denied, failed, result, authority, gap or erased')
    .option('--since <time>', 'appended since: 2026-11-22T13:30:00Z, or 30d, 24h, 90m ago')
    .option('--until <time>', 'appended before: a time as in --since')
    .option('--expires-in <duration>', 'certificates that expire within: 7d, 24h, 90m');
}

function addSearch(ledger: Command): void {
  const search = ledger
    .command('search')
    .description('find records of certificates: holder, requester, and the rule that allowed it')
    .addOption(outputOption(['wide', 'name', 'csv', 'pem'], 'table'))
    .addOption(
      new Option('--limit <count>', 'maximum number of records to print; 0: all')
        .argParser(countFlag)
        .default(DEFAULT_LIMIT),
    )
    .option('--continue <token>', 'continue a search with the same flags after its last page')
    .addHelpText('after', EXIT_CODES);
  addReaderOptions(addChoice(search)).action(async (options: SearchOptions) => {
    const { runSearch } = await import('./search.ts');
    process.exitCode = await runSearch(options);
  });
}

function addShow(ledger: Command): void {
  const show = ledger
    .command('show <record>')
    .description('print one record, such as 1-42, with its certificate')
    .option('-n, --namespace <name>', 'namespace of the record, if you may read only that')
    .addOption(outputOption(['pem']));
  addReaderOptions(show).action(async (name: string, options: ShowRecordOptions) => {
    const { runShow } = await import('./show.ts');
    await runShow(name, options);
  });
}

function addProve(ledger: Command): void {
  const prove = ledger
    .command('prove <record>')
    .description(
      'print a proof that the log has a record (C2SP tlog-proof), for verify-proof and tools of others',
    )
    .option('-n, --namespace <name>', 'namespace of the record, if you may read only that');
  addReaderOptions(prove).action(async (name: string, options: ShowRecordOptions) => {
    const { runProve } = await import('./prove.ts');
    await runProve(name, options);
  });
}

function addVerify(ledger: Command): void {
  const verify = ledger
    .command('verify')
    .description(
      'check every record against its leaf, every tile, and every checkpoint from the first on',
    )
    .option(
      '--key <key>',
      'verifier key of a log, from another source (repeatable; default: from the ledger)',
      gather,
      [],
    )
    .option(
      '--checkpoint <file>',
      'a checkpoint that was kept elsewhere: the log must begin with it (repeatable)',
      gather,
      [],
    )
    .option('--data <directory>', 'read the SQLite database in this directory, and no API')
    .addOption(outputOption())
    .addHelpText('after', '\nExit code: 0 verified; 1 an error; 3 verification failed.');
  addReaderOptions(addFlags(verify, DATABASE_FLAGS)).action(async (options: VerifyOptions) => {
    const { runVerify } = await import('./verify.ts');
    process.exitCode = await runVerify(options);
  });
}

function addVerifyProof(ledger: Command): void {
  ledger
    .command('verify-proof <file>')
    .description(
      'verify a proof that ledger prove printed, by the key of the log alone: without a cluster',
    )
    .requiredOption('--key <key>', 'verifier key of the log, from another source than the proof')
    .option('--record <file>', 'salt and record, where the proof has none: it was removed since')
    .addOption(outputOption())
    .addHelpText('after', '\nExit code: 0 proved; 1 an error; 3 the log has another entry there.')
    .action(async (file: string, options: VerifyProofOptions) => {
      const { runVerifyProof } = await import('./verify-proof.ts');
      process.exitCode = await runVerifyProof(file, options);
    });
}

function addExport(ledger: Command): void {
  const exporting = ledger
    .command('export')
    .description('write records as JSON Lines, the oldest first')
    .option('--file <file>', 'append to this file, after its last record');
  addReaderOptions(addChoice(exporting)).action(async (options: ExportOptions) => {
    const { runExport } = await import('./export.ts');
    await runExport(options);
  });
}

function addErase(ledger: Command): void {
  const erase = ledger
    .command('erase [records...]')
    .description(
      'remove records for good, such as those of a person; their entries stay in the log, and proofs hold',
    )
    .addOption(outputOption(['name']))
    .option('--include-valid', 'also of certificates that are still valid')
    .option('--yes', 'remove them; without this flag they are printed, and nothing is removed')
    .addHelpText(
      'after',
      '\nIt takes create on erasures.ledger.countersign.dev, besides get and list on records.\nExit code: 0 removed or printed; 1 an error; 3 nothing is found.',
    );
  addReaderOptions(addChoice(erase)).action(
    async (names: readonly string[], options: EraseOptions) => {
      const { runErase } = await import('./erase.ts');
      process.exitCode = await runErase(names, options);
    },
  );
}

function addKeys(ledger: Command): void {
  const keys = ledger
    .command('keys')
    .description('print the verifier keys of the logs (C2SP signed-note), for verifiers elsewhere')
    .addOption(outputOption());
  addReaderOptions(keys).action(async (options: KeysOptions) => {
    const { runKeys } = await import('./keys.ts');
    await runKeys(options);
  });
}

function addRotateKey(ledger: Command): void {
  const rotate = ledger
    .command('rotate-key')
    .description(
      'replace the key that signs checkpoints; the former one signs, too, until --complete',
    )
    .option('-n, --namespace <name>', 'namespace of the components', 'countersign-system')
    .option('--complete', 'end the overlap: remove the former key')
    .option('--compromised', 'remove all keys at once, without an overlap')
    .option('--yes', 'make the change; without this flag, the API server only validates it')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `\nIt takes patch on Secret countersign-ledger-key and on Deployment countersign-ledger.\nExit code: 0 done, or possible; 1 an error.`,
    );
  addUserOptions(rotate).action(async (options: RotateKeyOptions) => {
    const { runRotateKey } = await import('./rotate-key.ts');
    await runRotateKey(options);
  });
}

function addMigrate(ledger: Command): void {
  const migrate = ledger
    .command('migrate')
    .description(
      'bring the database to the schema of another version, up or down; all records stay. Stop the ledger first, or roll it back at once',
    )
    .option('--data <directory>', 'the SQLite database in this directory')
    .addOption(
      new Option('--schema <number>', 'the schema (default: that of this version)').argParser(
        countFlag,
      ),
    )
    .addOption(outputOption());
  addFlags(migrate, DATABASE_FLAGS).action(async (options: MigrateOptions) => {
    const { runMigrate } = await import('./migrate.ts');
    await runMigrate(options);
  });
}

/** @throws InvalidArgumentError */
function countFlag(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write a whole number');
}
