// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `federation`, for each foreign trust domain that a flag names. */
export const FEDERATION_SERIES = {
  fetches: counter(
    'countersign_federation_fetches_total',
    'Fetches of the bundles of foreign trust domains, by result.',
    ['trust_domain', 'outcome'],
  ),
  anchors: gauge(
    'countersign_federation_anchors',
    'CAs in the ClusterTrustBundle of a foreign trust domain; 0: none of its SVIDs is valid here.',
    ['trust_domain'],
  ),
  confirmed: gauge(
    'countersign_federation_confirmed_timestamp_seconds',
    'Time of the last valid response from the bundle endpoint of a foreign trust domain; 0 if none.',
    ['trust_domain'],
  ),
};
