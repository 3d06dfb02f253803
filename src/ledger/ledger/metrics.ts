// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `ledger`. */
export const LEDGER_SERIES = {
  appended: counter(
    'countersign_ledger_appended_total',
    'Records that the ledger has kept, by the component that sent them.',
    ['sender', 'kind'],
  ),
  refused: counter(
    'countersign_ledger_refused_total',
    'Records and batches that the ledger rejected, by cause.',
    ['sender', 'code'],
  ),
  erased: counter(
    'countersign_ledger_erased_total',
    'Records that were removed, by retention or at the request of a person.',
    ['reason'],
  ),
  entries: gauge('countersign_ledger_entries', 'Entries of a log of the ledger.', ['log']),
  checkpoint: gauge(
    'countersign_ledger_checkpoint_timestamp_seconds',
    'When the last checkpoint of a log was signed.',
    ['log'],
  ),
  // The destinations of checkpoints outside the cluster.
  published: gauge(
    'countersign_ledger_checkpoint_published_timestamp_seconds',
    'Time of the last checkpoint published to a destination outside the cluster; 0 if none.',
    ['destination'],
  ),
  unpublished: gauge(
    'countersign_ledger_checkpoint_unpublished_since_timestamp_seconds',
    'Time since which a destination outside the cluster lacks a checkpoint; 0 if it lacks none.',
    ['destination'],
  ),
  contradicted: gauge(
    'countersign_ledger_checkpoint_contradicted',
    '1 if a witness has cosigned a tree that the log does not begin with.',
    ['destination'],
  ),
  // The comparison of certificates with their records.
  unrecorded: gauge(
    'countersign_ledger_unrecorded_certificates',
    'Certificates of the CAs of this installation that were seen without a record and are not acknowledged.',
  ),
  explained: gauge(
    'countersign_ledger_explained_certificates',
    'Certificates without a record that are older than the ledger or in a counted gap.',
  ),
};
