// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads, pods and rollouts on a simulated clock: what a cluster does with a template that was
 * changed.
 */
import type { Pod } from '#api/object/pod.ts';
import { formatTime } from '#api/object/time.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import type { Workload, WorkloadKind } from '#api/workload/workload.ts';
import type { CurrentLeaf } from '#workloads/refresh/credentials/leaf.ts';
import type { CredentialSource } from '#workloads/refresh/credential-source.ts';
import { optInOf, REFRESH } from '#workloads/refresh/opt-in.ts';
import {
  CERTIFICATES,
  RESTARTED_AT,
  formatRecord,
  formatRestartedAt,
} from '#workloads/refresh/record.ts';
import type { RefresherDeps, RestartOutcome } from '#workloads/refresh/refresher.ts';
import { rolloutOf } from '#workloads/refresh/rollout.ts';
import {
  restartStateOf,
  workloadKey,
  type DueTimes,
  type RestartState,
} from '#workloads/refresh/restart-state.ts';

/** Monday 2026-01-05 00:00 UTC. */
export const START = Date.UTC(2026, 0, 5);

export interface WorkloadInit {
  readonly namespace: string;
  readonly name: string;
  readonly kind?: WorkloadKind;
  readonly secrets: readonly string[];
  readonly mode?: string;
  readonly replicas?: number;
  /** Labels of its pods. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A workload whose pods have run since the beginning. */
export function workloadOf(init: WorkloadInit): Workload {
  const { namespace, name, kind = 'Deployment', secrets, mode, replicas = 2, labels } = init;
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      namespace,
      name,
      uid: `${kind} ${namespace}/${name}`,
      resourceVersion: '1',
      creationTimestamp: formatTime(START),
      generation: 1,
      ...(mode === undefined ? {} : { annotations: { [REFRESH]: mode } }),
    },
    spec: {
      replicas,
      template: {
        ...(labels === undefined ? {} : { metadata: { labels } }),
        spec: {
          volumes: secrets.map((secretName) => ({ name: secretName, secret: { secretName } })),
          containers: [{ name: 'main', volumeMounts: secrets.map((each) => ({ name: each })) }],
        },
      },
    },
    status: doneStatus(1, replicas),
  };
}

function doneStatus(generation: number, replicas: number): NonNullable<Workload['status']> {
  return {
    observedGeneration: generation,
    replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    readyReplicas: replicas,
    currentRevision: `r${generation}`,
    updateRevision: `r${generation}`,
    desiredNumberScheduled: replicas,
    updatedNumberScheduled: replicas,
    numberAvailable: replicas,
  };
}

export function podOf(uid: string, started: number, labels?: Record<string, string>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name: uid,
      uid,
      resourceVersion: '1',
      creationTimestamp: formatTime(started),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {},
    status: {
      phase: 'Running',
      startTime: formatTime(started),
      containerStatuses: [
        { name: 'main', state: { running: { startedAt: formatTime(started + 1000) } } },
      ],
    },
  };
}

/** A leaf that was issued at a time; its hash is derived from its name. */
export function leafAt(
  name: string,
  issuedAt: number,
  more: Partial<CurrentLeaf> = {},
): CurrentLeaf {
  return {
    hash: Buffer.from(name).toString('hex').padStart(64, '0').slice(-64),
    issuedAt,
    writtenBy: issuedAt + 60_000,
    isFirst: false,
    remaining: 30 * 24 * 3_600_000,
    ...more,
  };
}

/** The leaf of each `namespace/secret`; all others are foreign. */
export function sourceOf(leaves: ReadonlyMap<string, CurrentLeaf>): CredentialSource {
  return {
    secret: (namespace, name) => {
      const leaf = leaves.get(`${namespace}/${name}`);
      return leaf === undefined ? { kind: 'foreign' } : { kind: 'known', leaf };
    },
    podCertificate: () => undefined,
    bundle: () => undefined,
    bundleSigner: () => undefined,
    bundleWrite: () => undefined,
    trust: () => ({ distrusted: [], signs: true }),
    isAnyDistrusted: false,
    version: () => '',
  };
}

/** A cluster: rollouts take a time of their own each, and replace all pods. */
export class World implements RefresherDeps {
  time = START;
  readonly workloads = new Map<string, Workload>();
  readonly leaves = new Map<string, CurrentLeaf>();
  readonly budgets = new Map<string, readonly DisruptionBudget[]>();
  /** How often each was restarted by us. */
  readonly restarts = new Map<string, number>();
  readonly #started = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  readonly #duration: (key: string) => number;

  constructor(duration: (key: string) => number = () => 30_000) {
    this.#duration = duration;
  }

  add(workload: Workload, started = START): void {
    const key = workloadKey(workload);
    this.workloads.set(key, workload);
    this.#started.set(key, started);
  }

  readonly now = (): number => this.time;

  /** Rollouts that have come to their end by then are complete. */
  advance(milliseconds: number): void {
    this.time += milliseconds;
    for (const [key, end] of this.#ends) {
      if (end > this.time) continue;
      this.#ends.delete(key);
      const workload = this.workloads.get(key);
      if (workload === undefined) continue;
      const { generation = 1 } = workload.metadata;
      const status = doneStatus(generation, workload.spec.replicas ?? 1);
      this.workloads.set(key, { ...workload, status });
    }
  }

  states(times: DueTimes): readonly RestartState[] {
    const source = sourceOf(this.leaves);
    return [...this.workloads.values()].flatMap((workload) => {
      const optIn = optInOf(workload);
      if (optIn.kind !== 'in') return [];
      return [restartStateOf(workload, optIn, source, { ...times, now: this.time })];
    });
  }

  readonly podsOf = ({ key, workload }: RestartState): Promise<readonly Pod[]> => {
    const labels = { ...workload.spec.template.metadata?.labels, of: key };
    return Promise.resolve([podOf(`${key} pod`, this.#started.get(key) ?? START, labels)]);
  };

  readonly budgetsOf = (namespace: string): readonly DisruptionBudget[] =>
    this.budgets.get(namespace) ?? [];

  readonly restart = (state: RestartState): Promise<RestartOutcome> => {
    const { key, record } = state;
    const workload = this.workloads.get(key) ?? state.workload;
    const { metadata, spec } = workload;
    this.workloads.set(key, {
      ...workload,
      metadata: {
        ...metadata,
        generation: (metadata.generation ?? 1) + 1,
        labels: { ...metadata.labels, [RESTARTED_AT]: formatRestartedAt(this.time) },
      },
      spec: {
        ...spec,
        template: {
          ...spec.template,
          metadata: {
            ...spec.template.metadata,
            annotations: { [CERTIFICATES]: formatRecord(record) },
          },
        },
      },
    });
    this.restarts.set(key, (this.restarts.get(key) ?? 0) + 1);
    this.#started.set(key, this.time);
    this.#ends.set(key, this.time + this.#duration(key));
    return Promise.resolve('begun');
  };

  readonly evict = (): Promise<RestartOutcome> => Promise.resolve('begun');

  /** The same with other answers. */
  with(other: Partial<RefresherDeps>): RefresherDeps {
    const { podsOf, budgetsOf, restart, evict, now } = this;
    return { podsOf, budgetsOf, restart, evict, now, ...other };
  }

  /** Rollouts in progress, by namespace. */
  running(): ReadonlyMap<string, number> {
    const count = new Map<string, number>();
    for (const { metadata, ...rest } of this.workloads.values()) {
      if (rolloutOf({ metadata, ...rest }).kind !== 'progressing') continue;
      const { namespace = '' } = metadata;
      count.set(namespace, (count.get(namespace) ?? 0) + 1);
    }
    return count;
  }
}
