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
      help: 'Calls to the API server, by method and status; <error> where no answer came.',
      labelNames: ['method', 'code'],
      registers,
    }),
    credentials: new Counter({
      name: 'countersign_credentials_changes_total',
      help: 'Tokens and TLS files (CA, client certificate) that were found changed and taken up; unreadable: they could not be read, and the old ones are kept.',
      labelNames: ['change'],
      registers,
    }),
    eventsDropped: new Counter({
      name: 'countersign_events_dropped_total',
      help: 'Events that were not written: too many at once (rate), too many that wait (full), or refused by the API server (refused).',
      labelNames: ['cause'],
      registers,
    }),
  };
}
