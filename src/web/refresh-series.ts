// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

/** The series of workloads that are restarted for their certificates. */
export interface RefreshSeries {
  readonly refreshWorkloads: Gauge<'state'>;
  readonly refreshRestarts: Counter<'outcome'>;
  readonly refreshEvictions: Counter<'outcome'>;
}

export function refreshSeries(registers: Registry[]): RefreshSeries {
  return {
    refreshWorkloads: new Gauge({
      name: 'countersign_refresh_workloads',
      help: 'Workloads that opted in to restarts, by what the last pass made of them.',
      labelNames: ['state'],
      registers,
    }),
    refreshRestarts: new Counter({
      name: 'countersign_refresh_restarts_total',
      help: 'Restarts that were begun, or refused by the API server.',
      labelNames: ['outcome'],
      registers,
    }),
    refreshEvictions: new Counter({
      name: 'countersign_refresh_evictions_total',
      help: 'Evictions of pods whose last credential ends, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
