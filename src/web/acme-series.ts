// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The series of `acme`: its Orders, its Challenges, and its calls to ACME servers. */
export interface AcmeSeries {
  readonly acmeOrders: Gauge<'state'>;
  readonly acmeChallenges: Gauge<'state'>;
  readonly acmeCalls: Counter<'endpoint' | 'status'>;
  readonly acmeSelfChecks: Histogram<'type' | 'passed'>;
  readonly acmeRateLimits: Counter;
  readonly acmeRateLimitWait: Counter;
  readonly acmeRenewals: Gauge<'state'>;
  readonly acmeNextRenewal: Gauge;
}

/** Seconds: from a file on the same node to a name server that does not answer. */
const SELF_CHECK_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30];

export function acmeSeries(registers: Registry[]): AcmeSeries {
  const byState = (name: string, help: string): Gauge<'state'> =>
    new Gauge({ name: `countersign_acme_${name}`, help, labelNames: ['state'], registers });
  return {
    acmeOrders: byState('orders', 'Orders by their state; new has no order at the server yet.'),
    acmeChallenges: byState('challenges', 'Challenges by state; queued ones wait for a slot.'),
    acmeCalls: new Counter({
      name: 'countersign_acme_calls_total',
      help: 'Calls to ACME servers, by resource and by HTTP status or the cause of none.',
      labelNames: ['endpoint', 'status'],
      registers,
    }),
    acmeSelfChecks: new Histogram({
      name: 'countersign_acme_self_check_seconds',
      help: 'How long it took to look whether a record or file is there.',
      labelNames: ['type', 'passed'],
      buckets: SELF_CHECK_BUCKETS,
      registers,
    }),
    acmeRateLimits: new Counter({
      name: 'countersign_acme_rate_limits_total',
      help: 'Answers of ACME servers that made an account wait.',
      registers,
    }),
    acmeRateLimitWait: new Counter({
      name: 'countersign_acme_rate_limit_wait_seconds_total',
      help: 'Seconds that accounts were told to wait by their ACME servers.',
      registers,
    }),
    acmeRenewals: byState(
      'renewals',
      'Certificates in use by how far their renewal is; only the replica that leads counts.',
    ),
    acmeNextRenewal: new Gauge({
      name: 'countersign_acme_next_renewal_timestamp_seconds',
      help: 'When the next certificate is to be renewed; 0 where none is known.',
      registers,
    }),
  };
}
