// SPDX-License-Identifier: Apache-2.0
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { ServingFault } from '#api/serving/report.ts';
import { runLoop } from '#kube/workqueue/run-loop.ts';
import { messageOf } from '#base/errors.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import { ClusterView } from '../refresh/cluster-view.ts';
import { Refresher } from '../refresh/refresher.ts';
import type { RestartLimits } from '../refresh/restart-slots.ts';
import type { DueTimes } from '../refresh/restart-state.ts';
import type { RestartVerdict } from '../refresh/verdict.ts';
import type { Component, Controller } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { refresherDeps } from './act.ts';
import { Evictions } from './evictions.ts';
import { permissions } from './permissions.ts';
import { createRecordedDenials } from './recorded.ts';
import { RefreshReport } from './report.ts';
import { createRefreshWatches, type RefreshedResources } from './watches.ts';
import * as messages from './messages.ts';

/** Settings of an administrator. */
export interface PodRefresherSettings extends DueTimes {
  readonly limits: RestartLimits;
  /** Secrets that may be read, as `namespace/name`. */
  readonly secrets: readonly string[];
  /** Shows events before the start. If absent, only those that this process saw count. */
  readonly ledger?: LedgerReader | undefined;
}

/** The only queue key: a pass covers all workloads, since they share the limits. */
const PASS = 'pass';
/**
 * Minimum time between passes, which collects bursts of changes. A rollout alone causes a dozen.
 */
const MIN_BETWEEN_MS = 1_000;
/** Interval for conditions without a watch event: a budget, or the timeout of a rollout. */
const LOOK_AGAIN_MS = 10_000;

/**
 * Restarts workloads whose certificates have changed, and evicts pods whose last credential
 * expires.
 */
export function createPodRefresher(
  component: Component,
  resources: RefreshedResources,
  settings: PodRefresherSettings,
): Controller {
  const { queue } = component;
  const view = new ClusterView(() => serverTime(component));
  const watches = createRefreshWatches({
    ...resources,
    component,
    view,
    secrets: settings.secrets,
    onChange: () => {
      queue.add(PASS);
    },
  });
  const passes = new Passes(component, view, watches.workloads, settings);
  const { ledger } = settings;
  const facts =
    ledger &&
    createRecordedDenials({
      component,
      ledger,
      view,
      isComplete: watches.isComplete,
      onChange: () => {
        queue.add(PASS);
      },
    });
  return {
    permissions: () => permissions(permissionNames(component, settings)),
    notReady: watches.notReady,
    faults: () => passes.faults(),
    warnings: () => [...watches.warnings(), ...(facts?.warnings() ?? [])],
    run: async (signal) => {
      const watching = Promise.all([watches.run(signal), facts?.run(signal)]);
      queue.add(PASS);
      const handle = (): Promise<ReconcileResult> => {
        const isLeading = component.shard.owns(PASS);
        if (!isLeading) passes.standBy();
        return isLeading && watches.isComplete()
          ? passes.handle()
          : Promise.resolve(requeueAt(component, serverTime(component) + MIN_BETWEEN_MS));
      };
      const onError = (_key: string, error: unknown): void => {
        component.log.warn({ error: messageOf(error) }, messages.PASS_FAILED);
      };
      await runLoop({ ...component, workers: 1, handle, onError }, signal);
      await watching;
    },
  };
}

function permissionNames(
  component: Component,
  { secrets, ledger }: PodRefresherSettings,
): Parameters<typeof permissions>[0] {
  const refreshSecrets = secrets.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return { namespace, name };
  });
  return { ...namesOf([], component), refreshSecrets, ledgerFacts: ledger !== undefined };
}

/** Runs passes, one after the other. */
class Passes {
  readonly #component: Component;
  readonly #view: ClusterView;
  readonly #workloads: ReturnType<typeof createRefreshWatches>['workloads'];
  readonly #settings: PodRefresherSettings;
  readonly #refresher: Refresher;
  readonly #evictions: Evictions;
  readonly #report: RefreshReport;
  /** Time at which the last pass ended. */
  #last = -Infinity;

  constructor(
    component: Component,
    view: ClusterView,
    workloads: ReturnType<typeof createRefreshWatches>['workloads'],
    settings: PodRefresherSettings,
  ) {
    this.#component = component;
    this.#view = view;
    this.#workloads = workloads;
    this.#settings = settings;
    this.#refresher = new Refresher(settings.limits);
    this.#evictions = new Evictions(component);
    this.#report = new RefreshReport(component);
  }

  faults(): readonly ServingFault[] {
    return this.#report.faults();
  }

  /** Expects that another replica restarts workloads. */
  standBy(): void {
    this.#refresher.standBy();
  }

  async handle(): Promise<ReconcileResult> {
    const earliest = this.#last + MIN_BETWEEN_MS;
    if (serverTime(this.#component) < earliest) return requeueAt(this.#component, earliest);
    const found = this.#view.states(this.#settings);
    const deps = refresherDeps(
      this.#component,
      (namespace) => this.#view.budgetsOf(namespace),
      (workload) => this.#workloads.get(workload.kind)?.applyWrite(workload),
    );
    const verdicts = await this.#refresher.pass(found.states, deps);
    this.#report.passed(found, verdicts);
    const evictAt = await this.#evictions.pass(this.#view.endangered(), deps.now());
    this.#last = deps.now();
    const next = Math.min(evictAt, nextPassTime(verdicts, this.#last));
    return next === Infinity ? undefined : requeueAt(this.#component, next);
  }
}

function nextPassTime(verdicts: ReadonlyMap<string, RestartVerdict>, now: number): number {
  const times = [...verdicts.values()].map((verdict) => {
    const until = 'until' in verdict ? verdict.until : undefined;
    if (['current', 'unknown', 'held', 'reverted'].includes(verdict.kind)) return until ?? Infinity;
    return Math.max(until ?? now + LOOK_AGAIN_MS, now + MIN_BETWEEN_MS);
  });
  return times.reduce((least, each) => Math.min(least, each), Infinity);
}
