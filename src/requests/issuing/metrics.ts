// SPDX-License-Identifier: Apache-2.0
import { gauge } from '#component/metric.ts';

/** Prometheus names the scraped pod's namespace `namespace`. */
const OWNER_LABELS = ['signer', 'owner_namespace', 'owner'] as const;

/** The expiry of certificates by owner. `expiries.ts` limits how many owners have a series. */
export const EXPIRY_SERIES = {
  certificateExpiry: gauge(
    'countersign_certificate_soonest_expiry_timestamp_seconds',
    'When the first certificate of an owner expires, of those that were not renewed.',
    OWNER_LABELS,
  ),
  refusedExpiry: gauge(
    'countersign_renewal_refused_expiry_timestamp_seconds',
    'When the first certificate expires whose renewal was denied or failed.',
    OWNER_LABELS,
  ),
};
