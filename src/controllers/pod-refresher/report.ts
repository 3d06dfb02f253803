// SPDX-License-Identifier: Apache-2.0
import { workloadText, type Workload } from '../../api/workload/workload.ts';
import type { ClusterStandings } from '../../refreshing/cluster-view.ts';
import { workloadKey } from '../../refreshing/standing.ts';
import type { RestartVerdict } from '../../refreshing/verdict.ts';
import type { Component } from '../../runtime/component/component.ts';

/** What keeps a workload from being restarted until somebody changes something. */
interface Hindrance {
  readonly reason: string;
  readonly note: string;
}

/** Tells people about workloads that cannot be restarted: once for each hindrance, by an Event and a log line. */
export class RefreshReport {
  readonly #component: Component;
  /** Key of the workload → what was told last. */
  #told = new Map<string, string>();

  constructor(component: Component) {
    this.#component = component;
  }

  /** After a pass: the gauges, and what is new among the hindrances. */
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
    metrics.refreshed(states);
    this.#told = told;
  }

  #tell(told: Map<string, string>, workload: Workload, { reason, note }: Hindrance): void {
    const key = workloadKey(workload);
    told.set(key, note);
    if (this.#told.get(key) === note) return;
    const { apiVersion, kind, metadata } = workload;
    const { name, namespace = '', uid } = metadata;
    const { log, events } = this.#component;
    log.warn({ workload: workloadText(workload), reason, note }, 'cannot be restarted');
    events.record({
      regarding: { apiVersion, kind, name, namespace, uid },
      ...{ type: 'Warning', reason, action: 'Restart', note },
    });
  }
}

function hindranceOf(verdict: RestartVerdict): Hindrance | undefined {
  switch (verdict.kind) {
    case 'blocked':
      return {
        reason: 'RefreshBlocked',
        note: `its pods have an older certificate, and PodDisruptionBudget ${verdict.budget} allows none to go; they are restarted when it does`,
      };
    case 'held':
      return {
        reason: 'RefreshHeld',
        note: `its pods have an older certificate, and a changed template would not replace them: ${verdict.message}`,
      };
    case 'refused':
      return {
        reason: 'RefreshRefused',
        note: `its pods have an older certificate, and could not be restarted: ${verdict.message}`,
      };
    case 'current':
    case 'restarted':
    case 'waiting':
      return undefined;
  }
}

function unknownOf(messages: readonly string[]): Hindrance | undefined {
  const [note] = messages;
  return note === undefined ? undefined : { reason: 'CertificateUnknown', note };
}
