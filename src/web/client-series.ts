// SPDX-License-Identifier: Apache-2.0
import { Counter, type Registry } from 'prom-client';

/** Of the way to the API server, beside the watches. */
export interface CallSeries {
  readonly calls: Counter<'method' | 'code'>;
  readonly credentials: Counter<'change'>;
  readonly eventsDropped: Counter<'cause'>;
}

export function callSeries(registers: Registry[]): CallSeries {
  return {
    calls: new Counter({
      name: 'rest_client_requests_total',
      help: 'Calls to the API server, by method and status code; <error> if there was no response.',
      labelNames: ['method', 'code'],
      registers,
    }),
    credentials: new Counter({
      name: 'countersign_credentials_changes_total',
      help: 'Reloads of changed tokens and TLS files (CA, client certificate); unreadable: the read failed, and the old ones stay in use.',
      labelNames: ['change'],
      registers,
    }),
    eventsDropped: new Counter({
      name: 'countersign_events_dropped_total',
      help: 'Events that were dropped: above the rate limit (rate), queue full (full), or refused by the API server (refused).',
      labelNames: ['cause'],
      registers,
    }),
  };
}
