// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isInCluster, type ComponentOptions } from '../app/component-options.ts';
import { durationFlag, gather, parsedFlag } from '../app/flag-values.ts';
import { parseGrant } from '../app/ledger/options.ts';
import { addCheckpointOptions, type CheckpointOptions } from './checkpoint-options.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-options.ts';
import type { AppendGrant } from '../controllers/ledger/grants.ts';
import { OMITTABLE_FIELDS, type OmittableField } from '../vocabulary.ts';

/** The flags of the component `ledger`. */
export interface LedgerComponentOptions
  extends ComponentOptions, CheckpointOptions, DatabaseOptions {
  readonly listenLedger: string;
  readonly listenCrl: string;
  readonly data: string;
  readonly origin: string;
  readonly appender: readonly AppendGrant[];
  readonly monitoredSecret: readonly string[];
  readonly monitorPatience: number;
  readonly retention?: number;
  readonly omit: readonly OmittableField[];
}

/** The port of the Deployment's container. */
const LEDGER_PORT = 8444;
const CRL_PORT = 8090;
/** A component that was without the ledger sends again after a minute at the latest. */
const MONITOR_PATIENCE_SECONDS = 300;

/** Adds those of {@link LedgerComponentOptions} that the other components do not have. */
export function addLedgerComponentOptions(command: Command, environment = process.env): Command {
  const host = isInCluster(environment) ? '0.0.0.0' : '127.0.0.1';
  return addCheckpointOptions(addKeepingOptions(addStoreOptions(command)))
    .option(
      '--listen-ledger <host:port>',
      'address where components append, and where the logs are served as files; TLS with --serving-certificate',
      `${host}:${LEDGER_PORT}`,
    )
    .option(
      '--listen-crl <host:port>',
      'address where the CRLs of ClusterSigners with profile.crl are served over plain HTTP: they are signed',
      `${host}:${CRL_PORT}`,
    )
    .option(
      '--origin <name>',
      'what the names of the logs begin with; others verify checkpoints by it, so never change it',
      'countersign.local/ledger',
    )
    .option(
      '--monitored-secret <namespace/name>',
      'Secret whose certificates are compared with the records, besides those of all requests (repeatable); its role names it, too',
      gather,
      [],
    )
    .addOption(
      new Option(
        '--monitor-patience <duration>',
        'how long a certificate may be without its record before it is reported',
      )
        .argParser(durationFlag)
        .default(MONITOR_PATIENCE_SECONDS, '5m'),
    )
    .addOption(
      new Option(
        '--appender <component=signer>',
        'let a component append records about a signer name (repeatable; default: none)',
      )
        .argParser((text: string, before: readonly AppendGrant[]) => [
          ...before,
          parsedFlag(text, parseGrant),
        ])
        .default([]),
    );
}

/** Where the records are. */
function addStoreOptions(command: Command): Command {
  return addDatabaseOptions(
    command.option(
      '--data <directory>',
      'directory of the SQLite database, on a disk of this machine: never NFS',
      '/var/lib/countersign',
    ),
  );
}

/** What is kept of records, and for how long. */
function addKeepingOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--retention <duration>',
        'how long records are kept: 400d, or a duration; at least as long as certificates live (default: for ever)',
      ).argParser(retentionFlag),
    )
    .addOption(
      new Option(
        '--omit <field>',
        `member of records that is not kept: ${OMITTABLE_FIELDS.join(', ')} (repeatable; default: none)`,
      )
        .argParser(omittedFlag)
        .default([]),
    );
}

const DAY_SECONDS = 86_400;

/** @throws InvalidArgumentError */
function retentionFlag(text: string): number {
  const [, days] = /^([1-9]\d{0,4})d$/.exec(text) ?? [];
  const seconds = days === undefined ? durationFlag(text) : Number(days) * DAY_SECONDS;
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('write for how long, such as 400d; leave it out to keep records');
}

/** @throws InvalidArgumentError */
function omittedFlag(text: string, before: readonly OmittableField[]): readonly OmittableField[] {
  const field = OMITTABLE_FIELDS.find((each) => each === text);
  if (field !== undefined) return [...before, field];
  throw new InvalidArgumentError(`use one of ${OMITTABLE_FIELDS.join(', ')}`);
}
