// SPDX-License-Identifier: Apache-2.0
import type { ServingFault } from '#api/serving/report.ts';
import { workloadText, type Workload } from '#api/workload/workload.ts';
import type { RestartStates } from '../refresh/cluster-view.ts';
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
  #faults: readonly ServingFault[] = [];

  constructor(component: Component) {
    this.#component = component;
  }

  /** Updates the gauges after a pass, and reports new obstacles. */
  passed({ states, invalid }: RestartStates, verdicts: ReadonlyMap<string, RestartVerdict>): void {
    const { metrics } = this.#component;
    const told = new Map<string, string>();
    const faults: ServingFault[] = [];
    const counts = new Map<string, number>();
    const count = (state: string): void => {
      counts.set(state, (counts.get(state) ?? 0) + 1);
    };
    for (const { workload, message } of invalid) {
      count('invalid');
      this.#tell(told, workload, { reason: 'RefreshInvalid', note: message });
    }
    for (const { key, workload, unknown } of states) {
      const verdict = verdicts.get(key) ?? { kind: 'current' };
      count(stateOf(verdict));
      const hindrance = hindranceOf(verdict) ?? unknownOf(unknown);
      if (hindrance !== undefined) this.#tell(told, workload, hindrance);
      faults.push(...faultsOf(workload, verdict));
    }
    const { workloads } = metrics.of(REFRESH_SERIES);
    workloads.reset();
    for (const [state, number] of counts) workloads.set({ state }, number);
    this.#told = told;
    this.#faults = faults.slice(0, MAX_NAMED_WORKLOADS);
  }

  /** Returns the obstacles for which a certificate may expire in use. */
  faults(): readonly ServingFault[] {
    return this.#faults;
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

/** The limit of workloads that the Lease names. The metric counts all. */
const MAX_NAMED_WORKLOADS = 5;

/** Returns the state of the metric. */
function stateOf(verdict: RestartVerdict): string {
  return 'isOverdue' in verdict && verdict.isOverdue ? 'overdue' : verdict.kind;
}

/** Returns the fault if only a user ends the obstacle before the certificate expires. */
function faultsOf(workload: Workload, verdict: RestartVerdict): readonly ServingFault[] {
  const hindrance = hindranceOf(verdict);
  if (hindrance === undefined || !['overdue', 'reverted'].includes(stateOf(verdict))) return [];
  const message = `${workloadText(workload)}: ${hindrance.note}`;
  return [{ reason: hindrance.reason, message, stops: false }];
}

function hindranceOf(verdict: RestartVerdict): Hindrance | undefined {
  switch (verdict.kind) {
    case 'blocked':
      return {
        reason: 'RefreshBlocked',
        note: messages.restartBlocked(verdict.budget, verdict.isOverdue),
      };
    case 'held':
      return {
        reason: 'RefreshHeld',
        note: messages.restartHeld(verdict.message),
      };
    case 'reverted':
      return {
        reason: 'RefreshReverted',
        note: messages.restartReverted(verdict.message),
      };
    case 'refused':
      return {
        reason: 'RefreshRefused',
        note: messages.restartRefused(verdict.message),
      };
    case 'waiting':
      return verdict.isOverdue === true
        ? { reason: 'RefreshOverdue', note: messages.restartOverdue(verdict.reason) }
        : undefined;
    case 'current':
    case 'unknown':
    case 'restarted':
      return undefined;
  }
}

function unknownOf(notes: readonly string[]): Hindrance | undefined {
  const [note] = notes;
  return note === undefined ? undefined : { reason: 'CertificateUnknown', note };
}
