// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `trust-distributor`. */
export const TARGET_SERIES = {
  targets: counter(
    'countersign_trust_targets_total',
    'ConfigMaps and caBundles with anchors that were written or deleted, or that belong to another owner (refused).',
    ['signer', 'outcome'],
  ),
  lagging: gauge(
    'countersign_trust_targets_lagging',
    'ConfigMaps and objects with a caBundle that lack the published anchors.',
    ['signer'],
  ),
};
