// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

/** The series of components that record in the ledger, and of the ledger itself. */
export interface LedgerSeries {
  readonly ledgerWaiting: Gauge;
  readonly ledgerLost: Gauge;
  readonly ledgerFailing: Gauge<'mode'>;
  readonly ledgerAppended: Counter<'sender' | 'kind'>;
  readonly ledgerRefused: Counter<'sender' | 'code'>;
  readonly ledgerErased: Counter<'reason'>;
  readonly ledgerEntries: Gauge<'log'>;
  readonly ledgerCheckpoint: Gauge<'log'>;
  readonly ledgerPublished: Gauge<'destination'>;
  readonly ledgerUnpublished: Gauge<'destination'>;
  readonly ledgerContradicted: Gauge<'destination'>;
  readonly ledgerUnrecorded: Gauge;
  readonly ledgerExplained: Gauge;
}

export function ledgerSeries(registers: Registry[]): LedgerSeries {
  return {
    ledgerWaiting: new Gauge({
      name: 'countersign_ledger_waiting_records',
      help: 'Records of this component that wait for the ledger.',
      registers,
    }),
    ledgerLost: new Gauge({
      name: 'countersign_ledger_lost_records',
      help: 'Records of this process that the ledger has not and will not get.',
      registers,
    }),
    ledgerFailing: new Gauge({
      name: 'countersign_ledger_failing',
      help: '1 while the last batch did not reach the ledger; with the mode required no request is answered then.',
      labelNames: ['mode'],
      registers,
    }),
    ledgerAppended: new Counter({
      name: 'countersign_ledger_appended_total',
      help: 'Records that the ledger has kept, by the component that sent them.',
      labelNames: ['sender', 'kind'],
      registers,
    }),
    ledgerRefused: new Counter({
      name: 'countersign_ledger_refused_total',
      help: 'Records and batches that the ledger did not take, by cause.',
      labelNames: ['sender', 'code'],
      registers,
    }),
    ledgerEntries: new Gauge({
      name: 'countersign_ledger_entries',
      help: 'Entries of a log of the ledger.',
      labelNames: ['log'],
      registers,
    }),
    ledgerCheckpoint: new Gauge({
      name: 'countersign_ledger_checkpoint_timestamp_seconds',
      help: 'When the last checkpoint of a log was signed.',
      labelNames: ['log'],
      registers,
    }),
    ...publishedSeries(registers),
    ...recordSeries(registers),
  };
}

type PublishedSeries = Pick<
  LedgerSeries,
  'ledgerPublished' | 'ledgerUnpublished' | 'ledgerContradicted'
>;

/** Of the places outside the cluster that take checkpoints. */
function publishedSeries(registers: Registry[]): PublishedSeries {
  const labelNames = ['destination'] as const;
  return {
    ledgerPublished: new Gauge({
      name: 'countersign_ledger_checkpoint_published_timestamp_seconds',
      help: 'When a place outside the cluster last took a checkpoint; 0 if it never did.',
      labelNames,
      registers,
    }),
    ledgerUnpublished: new Gauge({
      name: 'countersign_ledger_checkpoint_unpublished_since_timestamp_seconds',
      help: 'Since when a place outside the cluster lacks a checkpoint; 0 if it has the last one.',
      labelNames,
      registers,
    }),
    ledgerContradicted: new Gauge({
      name: 'countersign_ledger_checkpoint_contradicted',
      help: '1 if a witness has cosigned a tree that the log does not begin with.',
      labelNames,
      registers,
    }),
  };
}

function recordSeries(
  registers: Registry[],
): Pick<LedgerSeries, 'ledgerErased' | 'ledgerUnrecorded' | 'ledgerExplained'> {
  return {
    ledgerErased: new Counter({
      name: 'countersign_ledger_erased_total',
      help: 'Records that were removed, by retention or because a person asked for it.',
      labelNames: ['reason'],
      registers,
    }),
    ledgerUnrecorded: new Gauge({
      name: 'countersign_ledger_unrecorded_certificates',
      help: 'Certificates of our CAs that were seen, have no record, and nobody has acknowledged.',
      registers,
    }),
    ledgerExplained: new Gauge({
      name: 'countersign_ledger_explained_certificates',
      help: 'Certificates without a record that are older than the ledger or in a counted gap.',
      registers,
    }),
  };
}
