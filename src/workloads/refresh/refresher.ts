// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import { present } from '#base/object-keys.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import { holdsOlder, isExhausted, selectingBudgets } from './older-pods.ts';
import { OngoingDisruptions } from './ongoing-disruptions.ts';
import { formatRecord, restartedAtOf } from './record.ts';
import { rolloutOf, desiredPods, takesPodsAway } from './rollout.ts';
import { RestartSlots, type RestartLimits } from './restart-slots.ts';
import { RestartTimes } from './restart-times.ts';
import { PodEvictions } from './pod-evictions.ts';
import { RevertedRestarts } from './reverted-restarts.ts';
import type { OwnFindings } from './own-findings.ts';
import type { SeenRestartState, RestartState } from './restart-state.ts';
import type { RestartVerdict } from './verdict.ts';

/** Calls of a pass to the cluster. */
export interface RefresherDeps {
  readonly podsOf: (state: RestartState) => Promise<readonly Pod[]>;
  readonly budgetsOf: (namespace: string) => readonly DisruptionBudget[];
  /** Starts the rollout. */
  readonly restart: (state: RestartState) => Promise<RestartOutcome>;
  /** Evicts one pod of the workload, within its budgets. */
  readonly evict: (state: RestartState, pod: Pod) => Promise<RestartOutcome>;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: () => number;
}

/** `conflict`: the workload has changed since it was read, so it is judged again. */
export type RestartOutcome = 'begun' | 'conflict' | { readonly refused: string };

/** The last refusal of a workload. */
interface Refusal {
  readonly of: 'list' | 'restart';
  readonly attempts: number;
  readonly until: number;
  readonly message: string;
}

/** The state and the calls of one pass. */
interface PassContext {
  readonly slots: RestartSlots;
  readonly ongoing: OngoingDisruptions;
  readonly deps: RefresherDeps;
}

/** First and maximum retry delay of a rejected restart. A fix is noticed within the maximum. */
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 30 * 60_000;
/** Minimum interval between restarts of a workload, whatever happens to its record. */
const MIN_INTERVAL_MS = 5 * 60_000;

/**
 * Decides which workloads are restarted now. Everything that must survive the process is on the
 * workloads: the record and the time. The state here only saves requests and spaces retries.
 */
export class Refresher {
  readonly #limits: RestartLimits;
  /** UID → the state than which all pods were found to be newer, and the verdict. */
  readonly #fresh = new Map<string, { readonly of: string; readonly verdict: RestartVerdict }>();
  /**
   * UID → the state than which a pod was found to be older. The pods are read again on its turn.
   */
  readonly #older = new Map<string, { readonly of: string; readonly findings?: OwnFindings }>();
  /** UID → the last refusal. */
  readonly #refused = new Map<string, Refusal>();
  readonly #times = new RestartTimes();
  readonly #reverted = new RevertedRestarts();
  readonly #evictions = new PodEvictions();

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /**
   * Runs one pass over all opted-in workloads, the most urgent first. A failed restart does not
   * stop the pass.
   *
   * @returns the verdict of each, by key
   */
  async pass(
    states: readonly RestartState[],
    deps: RefresherDeps,
  ): Promise<ReadonlyMap<string, RestartVerdict>> {
    const now = deps.now();
    const { rolloutTimeoutMs } = this.#limits;
    this.#times.readLabels(states);
    const slots = new RestartSlots(this.#limits, states, { times: this.#times, now });
    const ongoing = new OngoingDisruptions(states, (state) =>
      this.#times.isWithin(state, rolloutTimeoutMs, now),
    );
    for (const { state, at } of this.#evictions.recent(states, now)) {
      slots.take(state, now, at);
      ongoing.add(state);
    }
    const verdicts = new Map<string, RestartVerdict>();
    const deadlines = new Map(
      states.map((state) => [state, (this.#knownOlder(state) ?? state).deadline]),
    );
    for (const state of this.#times.inTurns(deadlines)) {
      verdicts.set(state.key, await this.#judge(state, { slots, ongoing, deps }));
    }
    this.#forget(states);
    return verdicts;
  }

  /** Has the next pass count restarts of another process, which led in between. */
  standBy(): void {
    this.#times.expectLabels();
  }

  async #judge(state: RestartState, context: PassContext): Promise<RestartVerdict> {
    const { metadata } = state.workload;
    if (state.changes.length === 0 && state.own === undefined) return CURRENT;
    const now = context.deps.now();
    const known = this.#known(state, now);
    if (known !== undefined) return known;
    if (desiredPods(state.workload) === 0) return CURRENT;
    try {
      return await this.#inTurn(state, context);
    } catch (error) {
      const message = error instanceof Error ? error.message : 'failed';
      return this.#remember(metadata.uid, { of: 'list', message }, now);
    }
  }

  /**
   * Returns a verdict that needs no new check: nothing has changed since, or the API server
   * rejected a recent restart.
   */
  #known(state: RestartState, now: number): RestartVerdict | undefined {
    const { uid } = state.workload.metadata;
    const fresh = this.#fresh.get(uid);
    if (fresh?.of === matterOf(state) && !isOver(fresh.verdict, now)) return fresh.verdict;
    const refusal = this.#refused.get(uid);
    if (refusal === undefined || refusal.until <= now) return undefined;
    return { kind: 'refused', message: refusal.message, until: refusal.until };
  }

  /** Judges a workload, and reads its pods once, if the verdict depends on them. */
  async #inTurn(state: RestartState, context: PassContext): Promise<RestartVerdict> {
    const { slots, deps } = context;
    let listed: Promise<readonly Pod[]> | undefined;
    const podsOf = (): Promise<readonly Pod[]> => (listed ??= deps.podsOf(state));

    const known = this.#knownOlder(state);
    // A workload that needs no restart must not be reported as waiting, so its pods are read first.
    const first = known ?? (state.own === undefined ? state : this.#see(state, await podsOf()));
    if ('kind' in first) return first;
    const early = whyNotYet(first, deps.now()) ?? (known && slots.full(known, deps.now()));
    if (early !== undefined) return markOverdue(early, first, deps.now());

    const pods = await podsOf();
    const seen = this.#see(state, pods);
    if ('kind' in seen) return seen;
    const full = slots.full(seen, deps.now());
    return markOverdue(full ?? (await this.#begin(seen, pods, context)), seen, deps.now());
  }

  /** Returns the state with an older pod that an earlier pass found, unless the inputs changed. */
  #knownOlder(state: RestartState): RestartState | undefined {
    const older = this.#older.get(state.workload.metadata.uid);
    return older?.of === matterOf(state) ? withFindings(state, older.findings) : undefined;
  }

  /**
   * Judges the pods, and remembers the result until the inputs change.
   *
   * @returns the state with what was found on the pods if one of them is older, or else the verdict
   */
  #see(state: RestartState, pods: readonly Pod[]): RestartState | RestartVerdict {
    const { uid } = state.workload.metadata;
    const findings = state.own?.find(pods);
    const seen = withFindings(state, findings);
    const of = matterOf(state);
    // A refused restart of older pods stays refused, however often they are listed.
    const isOlder = isOutdated(pods, seen);
    if (!isOlder || this.#refused.get(uid)?.of === 'list') this.#refused.delete(uid);
    if (isOlder) {
      this.#older.set(uid, { of, ...present('findings', findings) });
      return seen;
    }
    const verdict = freshVerdict(seen);
    this.#fresh.set(uid, { of, verdict });
    return verdict;
  }

  /** Begins the restart, if the budgets of the pods allow it. */
  async #begin(
    state: RestartState,
    pods: readonly Pod[],
    context: PassContext,
  ): Promise<RestartVerdict> {
    const { workload, way, deadline } = state;
    const { ongoing, deps } = context;
    const { namespace = '' } = workload.metadata;
    const isEviction = way === 'eviction';
    const budgets =
      isEviction || takesPodsAway(workload)
        ? selectingBudgets(pods, deps.budgetsOf(namespace))
        : [];
    const exhausted = budgets.find(isExhausted);
    if (exhausted !== undefined) {
      const { name } = exhausted.metadata;
      return { kind: 'blocked', budget: name, isOverdue: deps.now() >= deadline };
    }
    if (ongoing.uses(budgets, state, deps.now()))
      return { kind: 'waiting', reason: 'RolloutInProgress' };
    return isEviction ? this.#evict(state, pods, context) : this.#restart(state, context);
  }

  async #restart(
    state: RestartState,
    { slots, ongoing, deps }: PassContext,
  ): Promise<RestartVerdict> {
    const { uid } = state.workload.metadata;
    const reverted = this.#reverted.verdictOn(state);
    if (reverted !== undefined) return reverted;
    const outcome = await deps.restart(state);
    const now = deps.now();
    if (outcome === 'conflict') return { kind: 'waiting', reason: 'Conflict', until: now };
    if (outcome !== 'begun')
      return this.#remember(uid, { of: 'restart', message: outcome.refused }, now);
    this.#refused.delete(uid);
    slots.take(state, now);
    ongoing.add(state);
    this.#times.begun(state, now);
    this.#reverted.begun(state);
    return { kind: 'restarted' };
  }

  /** Evicts the next pod that is older, if the others are ready. */
  async #evict(
    state: RestartState,
    pods: readonly Pod[],
    { slots, ongoing, deps }: PassContext,
  ): Promise<RestartVerdict> {
    const { uid } = state.workload.metadata;
    const older = pods.filter((pod) => isOutdated([pod], state));
    const next = this.#evictions.beginNext(state, { pods, older });
    if (next === 'wait') return { kind: 'waiting', reason: 'RolloutInProgress' };
    if (next === 'done') return { kind: 'current', until: deps.now() + MIN_INTERVAL_MS };
    const outcome = await deps.evict(state, next);
    const now = deps.now();
    if (outcome === 'conflict') return { kind: 'waiting', reason: 'Conflict', until: now };
    if (outcome !== 'begun')
      return this.#remember(uid, { of: 'restart', message: outcome.refused }, now);
    this.#refused.delete(uid);
    this.#evictions.evicted(state, next, now);
    slots.take(state, now);
    ongoing.add(state);
    this.#times.begun(state, now);
    return { kind: 'restarted' };
  }

  #remember(uid: string, refusal: Pick<Refusal, 'of' | 'message'>, now: number): RestartVerdict {
    const attempts = (this.#refused.get(uid)?.attempts ?? 0) + 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
    this.#refused.set(uid, { ...refusal, attempts, until: now + wait });
    return { kind: 'refused', message: refusal.message, until: now + wait };
  }

  /** Forgets the state of deleted workloads. */
  #forget(states: readonly RestartState[]): void {
    const there = new Set(states.map(({ workload }) => workload.metadata.uid));
    this.#times.forget(states);
    this.#reverted.forget(there);
    this.#evictions.forget(there);
    for (const memory of [this.#fresh, this.#older, this.#refused]) {
      for (const uid of memory.keys()) if (!there.has(uid)) memory.delete(uid);
    }
  }
}

/** Reports whether one of the pods runs with an older certificate than one of the workload's. */
export function isOutdated(
  pods: readonly Pod[],
  { changes }: Pick<RestartState, 'changes'>,
): boolean {
  return pods.some((pod) => changes.some(({ leaf, use }) => holdsOlder(pod, leaf, use)));
}

const CURRENT: RestartVerdict = { kind: 'current' };

function withFindings(state: RestartState, findings: OwnFindings | undefined): RestartState {
  return findings === undefined ? state : (state.own?.with(findings) ?? state);
}

/** Returns the inputs of a workload's verdict, except its pods. */
function matterOf({ record, own }: RestartState): string {
  return `${formatRecord(record)} ${own?.version ?? ''}`;
}

function freshVerdict(seen: RestartState & Partial<SeenRestartState>): RestartVerdict {
  const { unseen: [message] = [], lookAgainAt = Infinity } = seen;
  const until = lookAgainAt === Infinity ? {} : { until: lookAgainAt };
  return message === undefined
    ? { kind: 'current', ...until }
    : { kind: 'unknown', message, ...until };
}

function isOver(verdict: RestartVerdict, now: number): boolean {
  const until = 'until' in verdict ? verdict.until : undefined;
  return until !== undefined && until <= now;
}

/** Marks a workload that waits past its deadline for more than its own settled certificates. */
function markOverdue(
  verdict: RestartVerdict,
  { deadline }: RestartState,
  now: number,
): RestartVerdict {
  if (verdict.kind !== 'waiting' || now < deadline) return verdict;
  const isTransient = verdict.reason === 'NotDue' || verdict.reason === 'Conflict';
  return isTransient ? verdict : { ...verdict, isOverdue: true };
}

function whyNotYet(
  state: RestartState & Partial<SeenRestartState>,
  now: number,
): RestartVerdict | undefined {
  const { workload, dueAt, deadline, withoutCa = [] } = state;
  if (withoutCa.length > 0) return { kind: 'waiting', reason: 'NoAuthority' };
  if (dueAt > now) return { kind: 'waiting', reason: 'NotDue', until: dueAt };
  const rollout = rolloutOf(workload);
  if (rollout.kind === 'held') return rollout;
  // A rollout that never ends, such as a DaemonSet's with a lost node, must not outlast the
  // certificate.
  if (rollout.kind === 'progressing' && now < deadline) {
    return { kind: 'waiting', reason: 'RolloutInProgress', until: deadline };
  }
  const again = (restartedAtOf(workload) ?? -Infinity) + MIN_INTERVAL_MS;
  return again > now ? { kind: 'waiting', reason: 'Interval', until: again } : undefined;
}
