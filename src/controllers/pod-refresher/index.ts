// SPDX-License-Identifier: Apache-2.0
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { runLoop } from '../../kube/workqueue/run-loop.ts';
import { messageOf } from '../../errors.ts';
import { ClusterView } from '../../refreshing/cluster-view.ts';
import { Refresher } from '../../refreshing/refresher.ts';
import type { RestartLimits } from '../../refreshing/restart-slots.ts';
import type { DueTimes } from '../../refreshing/standing.ts';
import type { RestartVerdict } from '../../refreshing/verdict.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { requeueAt, serverTime } from '../../runtime/component/server-time.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { refreshWorld } from './act.ts';
import { Evictions } from './evictions.ts';
import { permissions } from './permissions.ts';
import { createRecordedDenials } from './recorded.ts';
import { RefreshReport } from './report.ts';
import { createRefreshWatches, type RefreshedResources } from './watches.ts';

/** What an administrator sets. */
export interface PodRefresherSettings extends DueTimes {
  readonly limits: RestartLimits;
  /** Secrets that may be read: `namespace/name`. */
  readonly secrets: readonly string[];
  /** Whether what happened before the start is read from the ledger. */
  readonly ledgerFacts: boolean;
}

/** The one key of the queue: a pass looks at all workloads, since they share the limits. */
const PASS = 'pass';
/** Changes come in bursts, a rollout alone is a dozen; one pass a second sees them together. */
const LEAST_BETWEEN_MS = 1_000;
/** What a watch does not tell is looked at again: a budget, the end of a rollout's time. */
const LOOK_AGAIN_MS = 10_000;

/** Restarts workloads whose certificates have changed, and evicts pods whose last credential ends. */
export function createPodRefresher(
  component: Component,
  resources: RefreshedResources,
  settings: PodRefresherSettings,
): Controller {
  const { queue } = component;
  const view = new ClusterView(() => serverTime(component));
  const watches = createRefreshWatches({
    ...{ ...resources, component, view, secrets: settings.secrets },
    onChange: () => {
      queue.add(PASS);
    },
  });
  const passes = new Passes(component, view, watches.workloads, settings);
  const facts = settings.ledgerFacts
    ? createRecordedDenials({
        ...{ component, view, isComplete: watches.isComplete },
        onChange: () => {
          queue.add(PASS);
        },
      })
    : undefined;
  return {
    permissions: () => permissions(permissionNames(component, settings)),
    notReady: watches.notReady,
    warnings: () => [...watches.warnings(), ...(facts?.warnings() ?? [])],
    run: async (signal) => {
      const watching = Promise.all([watches.run(signal), facts?.run(signal)]);
      queue.add(PASS);
      const handle = (): Promise<ReconcileResult> =>
        component.shard.owns(PASS) && watches.isComplete()
          ? passes.handle()
          : Promise.resolve(requeueAt(component, serverTime(component) + LEAST_BETWEEN_MS));
      const onError = (_key: string, error: unknown): void => {
        component.log.warn({ error: messageOf(error) }, 'a pass over the workloads failed');
      };
      await runLoop({ ...component, workers: 1, handle, onError }, signal);
      await watching;
    },
  };
}

function permissionNames(
  component: Component,
  { secrets, ledgerFacts }: PodRefresherSettings,
): Parameters<typeof permissions>[0] {
  const refreshSecrets = secrets.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return { namespace, name };
  });
  return { ...namesOf([], component), refreshSecrets, ledgerFacts };
}

/** One pass after the other. */
class Passes {
  readonly #component: Component;
  readonly #view: ClusterView;
  readonly #workloads: ReturnType<typeof createRefreshWatches>['workloads'];
  readonly #settings: PodRefresherSettings;
  readonly #refresher: Refresher;
  readonly #evictions: Evictions;
  readonly #report: RefreshReport;
  /** When the last one ended. */
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

  async handle(): Promise<ReconcileResult> {
    const earliest = this.#last + LEAST_BETWEEN_MS;
    if (serverTime(this.#component) < earliest) return requeueAt(this.#component, earliest);
    const found = this.#view.standings(this.#settings);
    const world = refreshWorld(
      this.#component,
      (namespace) => this.#view.budgetsOf(namespace),
      (workload) => this.#workloads.get(workload.kind)?.applyWrite(workload),
    );
    const verdicts = await this.#refresher.pass(found.standings, world);
    this.#report.passed(found, verdicts);
    const evictAt = await this.#evictions.pass(this.#view.endangered(), world.now());
    this.#last = world.now();
    const next = Math.min(evictAt, nextLook(verdicts, this.#last));
    return next === Infinity ? undefined : requeueAt(this.#component, next);
  }
}

function nextLook(verdicts: ReadonlyMap<string, RestartVerdict>, now: number): number {
  const times = [...verdicts.values()].map((verdict) => {
    if (verdict.kind === 'current' || verdict.kind === 'held') return Infinity;
    const until = 'until' in verdict ? verdict.until : undefined;
    return Math.max(until ?? now + LOOK_AGAIN_MS, now + LEAST_BETWEEN_MS);
  });
  return times.reduce((least, each) => Math.min(least, each), Infinity);
}
