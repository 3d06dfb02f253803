// SPDX-License-Identifier: Apache-2.0
import { counter, gauge, histogram } from '#component/metric.ts';

/** Seconds: from a file on the same node to a name server that does not answer. */
const SELF_CHECK_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30];

/** The series of `acme`: its Orders, its Challenges, and its calls to ACME servers. */
export const ACME_SERIES = {
  orders: gauge(
    'countersign_acme_orders',
    'Orders by their state; new has no order at the server yet.',
    ['state'],
  ),
  challenges: gauge(
    'countersign_acme_challenges',
    'Challenges by state; queued ones wait for a slot.',
    ['state'],
  ),
  calls: counter(
    'countersign_acme_calls_total',
    'Calls to ACME servers, by resource and by HTTP status, or the error without one.',
    ['endpoint', 'status'],
  ),
  selfChecks: histogram(
    'countersign_acme_self_check_seconds',
    'Duration of self-checks of a record or file.',
    ['type', 'passed'],
    SELF_CHECK_BUCKETS,
  ),
  rateLimits: counter(
    'countersign_acme_rate_limits_total',
    'Responses of ACME servers that rate-limited an account.',
  ),
  rateLimitWait: counter(
    'countersign_acme_rate_limit_wait_seconds_total',
    'Seconds that ACME servers made accounts wait.',
  ),
  renewals: gauge(
    'countersign_acme_renewals',
    'Certificates in use, by the state of their renewal; only the leader counts.',
    ['state'],
  ),
  nextRenewal: gauge(
    'countersign_acme_next_renewal_timestamp_seconds',
    'When the next renewal of a certificate is due; 0 if none is known.',
  ),
};
