// SPDX-License-Identifier: Apache-2.0
import { workloadText, type Workload } from '#api/workload/workload.ts';
import type { ClusterStandings } from '../refresh/cluster-view.ts';
import { workloadKey } from '../refresh/restart-state.ts';
import type { RestartVerdict } from '../refresh/verdict.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';
import { REFRESH_SERIES } from './metrics.ts';

/** Obstacle to a restart that lasts until a user changes something. */
interface Hindrance {
  readonly reason: string;
  readonly note: string;
}

/** Reports workloads that cannot be restarted: each obstacle once, by an Event and a log line. */
export class RefreshReport {
  readonly #component: Component;
  /** Key of the workload → last reported note. */
  #told = new Map<string, string>();

  constructor(component: Component) {
    this.#component = component;
  }

  /** Updates the gauges after a pass, and reports new obstacles. */
  passed(
    { standings, invalid }: ClusterStandings,
    verdicts: ReadonlyMap<string, RestartVerdict>,
  ): void {
    const { metrics } = this.#component;
    const told = new Map<string, string>();
    const states = new Map<string, number>();
    const count = (state: string): void => {
      states.set(state, (states.get(state) ?? 0) + 1);
    };
    for (const { workload, message } of invalid) {
      count('invalid');
      this.#tell(told, workload, { reason: 'RefreshInvalid', note: message });
    }
    for (const { key, workload, unknown } of standings) {
      const verdict = verdicts.get(key) ?? { kind: 'current' };
      count(verdict.kind);
      const hindrance = hindranceOf(verdict) ?? unknownOf(unknown);
      if (hindrance !== undefined) this.#tell(told, workload, hindrance);
    }
    const { workloads } = metrics.of(REFRESH_SERIES);
    workloads.reset();
    for (const [state, number] of states) workloads.set({ state }, number);
    this.#told = told;
  }

  #tell(told: Map<string, string>, workload: Workload, { reason, note }: Hindrance): void {
    const key = workloadKey(workload);
    told.set(key, note);
    if (this.#told.get(key) === note) return;
    const { apiVersion, kind, metadata } = workload;
    const { name, namespace = '', uid } = metadata;
    const { log, events } = this.#component;
    log.warn({ workload: workloadText(workload), reason, note }, messages.CANNOT_RESTART);
    events.record({
      regarding: { apiVersion, kind, name, namespace, uid },
      type: 'Warning',
      reason,
      action: 'Restart',
      note,
    });
  }
}

function hindranceOf(verdict: RestartVerdict): Hindrance | undefined {
  switch (verdict.kind) {
    case 'blocked':
      return {
        reason: 'RefreshBlocked',
        note: messages.restartBlocked(verdict.budget),
      };
    case 'held':
      return {
        reason: 'RefreshHeld',
        note: messages.restartHeld(verdict.message),
      };
    case 'refused':
      return {
        reason: 'RefreshRefused',
        note: messages.restartRefused(verdict.message),
      };
    case 'current':
    case 'unknown':
    case 'restarted':
    case 'waiting':
      return undefined;
  }
}

function unknownOf(notes: readonly string[]): Hindrance | undefined {
  const [note] = notes;
  return note === undefined ? undefined : { reason: 'CertificateUnknown', note };
}
