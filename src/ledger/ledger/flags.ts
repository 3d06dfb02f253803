// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { usageError } from '#base/errors.ts';
import { OMITTABLE_FIELDS, type OmittableField } from '#base/vocabulary.ts';
import type { Flag } from '#component/flag.ts';
import { DATABASE_FLAGS, type DatabaseFlags } from '../database-flags.ts';
import { parseGrant, type AppendGrant } from './grants.ts';
import { CHECKPOINT_FLAGS, type CheckpointFlags } from './publishing/flags.ts';

/** Flags of `ledger`. */
export interface LedgerFlags extends CheckpointFlags, DatabaseFlags {
  readonly listenLedger: string;
  readonly listenCrl: string;
  readonly data: string;
  readonly origin: string;
  readonly appender: readonly AppendGrant[];
  readonly monitoredSecret: readonly string[];
  readonly unrecordedGracePeriod: number;
  readonly retention?: number;
  readonly omit: readonly OmittableField[];
  readonly aggregatedApi: boolean;
}

/** The ports of the Deployment's container. */
export const LEDGER_PORT = 8444;
export const CRL_PORT = 8090;

/** Mount path of the volume in the Deployment. */
export const DATA_DIRECTORY = '/var/lib/countersign';

/** Default grace period. A component resends at most a minute after an outage of the ledger. */
const MONITOR_PATIENCE_SECONDS = 300;
const DAY_SECONDS = 86_400;

/** {@link LedgerFlags} */
export const LEDGER_FLAGS: readonly Flag[] = [
  {
    flag: '--data <directory>',
    help: 'directory of the SQLite database, on a disk of this machine: never NFS',
    default: DATA_DIRECTORY,
  },
  ...DATABASE_FLAGS,
  {
    flag: '--retention <duration>',
    help: 'how long records are kept: 400d, or a duration; at least as long as certificates live (default: indefinitely)',
    parse: parseRetention,
  },
  {
    flag: '--omit <field>',
    help: `member of records that is not kept: ${OMITTABLE_FIELDS.join(', ')} (repeatable; default: none)`,
    parse: parseOmitted,
    repeatable: true,
  },
  ...CHECKPOINT_FLAGS,
  {
    flag: '--listen-ledger <host:port>',
    help: 'address where components append, and where the logs are served as files; TLS with --serving-certificate',
    listens: LEDGER_PORT,
  },
  {
    flag: '--listen-crl <host:port>',
    help: 'address where the CRLs of ClusterSigners with profile.crl are served over plain HTTP: they are signed',
    listens: CRL_PORT,
  },
  {
    flag: '--aggregated-api',
    help: 'accept callers that the API server authenticates, where it serves the API of the ledger; the role may read the CA of its client certificate',
    default: false,
  },
  {
    flag: '--origin <name>',
    help: 'what the names of the logs begin with; others verify checkpoints by it, so never change it',
    default: 'countersign.local/ledger',
  },
  {
    flag: '--monitored-secret <namespace/name>',
    help: 'Secret whose certificates are compared with the records, besides those of all requests (repeatable); its role names it, too',
    repeatable: true,
  },
  {
    flag: '--unrecorded-grace-period <duration>',
    help: 'how long a certificate may be without its record before it is reported',
    parse: parseDuration,
    default: MONITOR_PATIENCE_SECONDS,
    shown: '5m',
  },
  {
    flag: '--appender <component=signer>',
    help: 'let a component append records about a signer name (repeatable; default: none)',
    parse: parseGrant,
    repeatable: true,
  },
];

/** @throws SignerError USAGE, DURATION_INVALID */
function parseRetention(text: string): number {
  const [, days] = /^([1-9]\d{0,4})d$/.exec(text) ?? [];
  const seconds = days === undefined ? parseDuration(text) : Number(days) * DAY_SECONDS;
  if (seconds > 0) return seconds;
  throw usageError('write for how long, such as 400d; leave it out to keep records');
}

/** @throws SignerError USAGE */
function parseOmitted(text: string): OmittableField {
  const field = OMITTABLE_FIELDS.find((each) => each === text);
  if (field !== undefined) return field;
  throw usageError(`use one of ${OMITTABLE_FIELDS.join(', ')}`);
}
