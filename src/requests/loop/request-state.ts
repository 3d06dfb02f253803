// SPDX-License-Identifier: Apache-2.0
/**
 * The state that a replica keeps of each request besides the request itself, and its transitions.
 *
 * ```text
 * watch event ─ onWatchEvent ─► queue ─ start ─► at work ─ finish ─► resting, until an event
 *                  ▲                                     │ ├─────► resting, until a time    (due)
 *                  └── noted while at work ──────────────┘ ├─────► resting, with all others that
 *                                                          │       wait for one cause       (due)
 *                                                          └─────► answered or gone: forget
 * ```
 */
import type { DelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Clock, Random } from '#base/ports.ts';
import { createBackoffGroups, type BackoffGroups } from './backoff-groups.ts';
import { createInterner, type Intern } from './interner.ts';
import type { RequestOutcome } from './outcome.ts';
import { partsOf } from './request-key.ts';

/** State by queue key (`request-key.ts`). The functions of this file own it. */
export interface ReconcileState {
  /** Keys in progress. True if a watch event arrived meanwhile. */
  readonly atWork: Map<string, boolean>;
  /**
   * Keys that are reconciled again without an event. Each key in progress counts until its
   * reconciliation has completed.
   */
  readonly due: Set<string>;
  /** Last logged outcome of a pending request, so that repetitions are not logged again. */
  readonly logged: Map<string, string>;
  /** Distinct outcomes are few, so many requests share one string. */
  readonly intern: Intern;
  /** Keys that wait for a cause that other keys share. */
  readonly waiting: BackoffGroups;
  readonly clock: Clock;
}

/** Cause of a watch event, which decides what is compared. A new list may show a key once more. */
export type WatchCause = 'changed' | 'again';

/** Creates a state without requests. `clock` is our own, by which keys are queued again. */
export function createRequestState(init: {
  readonly clock: Clock;
  readonly random: Random;
  readonly queue: Pick<DelayingQueue, 'add' | 'addAt'>;
}): ReconcileState {
  const { clock, random, queue } = init;
  return {
    clock,
    atWork: new Map(),
    due: new Set(),
    logged: new Map(),
    intern: createInterner(),
    waiting: createBackoffGroups({
      clock,
      random,
      wake: queue.add,
      wakeAfter: (key, milliseconds) => {
        queue.addAt(key, clock() + milliseconds);
      },
    }),
  };
}

/** @returns whether to queue the key now */
export function onWatchEvent(
  { atWork, due }: ReconcileState,
  key: string,
  why: WatchCause,
): boolean {
  // A request that a new list shows again, after a server outage, need not wait for the end of its
  // backoff.
  if (why !== 'changed' && !due.has(key)) return false;
  if (!atWork.has(key)) return true;
  // The event may be our own write, which the watch can deliver before the response.
  atWork.set(key, true);
  return false;
}

/**
 * Marks a key as taken by a worker. It counts as due until its reconciliation completes, so after
 * an exception the key is queued again.
 */
export function start({ atWork, due }: ReconcileState, key: string): void {
  due.add(key);
  atWork.set(key, false);
}

/** Result of one reconciliation of a key. */
export type Reconciliation =
  /** The request is gone, or another replica's. */
  | { readonly kind: 'forgotten' }
  /** It waits with all other keys that wait for `cause`. */
  | { readonly kind: 'unlisted'; readonly cause: string }
  /** It could not be read. */
  | { readonly kind: 'unread'; readonly outcome: RequestOutcome }
  | { readonly kind: 'judged'; readonly outcome: RequestOutcome }
  /** An unexpected error. The key stays due. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** Next state of a key after a reconciliation. */
export interface Rest {
  /** When to reconcile it again without an event. */
  readonly next: ReconcileResult;
  /** True if the outcome differs from the last logged one. An answer always does. */
  readonly isNew: boolean;
  /** True if an event arrived meanwhile, so that the key must be queued again. */
  readonly isNoted: boolean;
}

/**
 * Releases the key after its reconciliation.
 *
 * @param isOwnEvent - whether an event that arrived meanwhile was our own write or an older one
 */
export function finish(
  state: ReconcileState,
  key: string,
  result: Reconciliation,
  isOwnEvent: boolean,
): Rest {
  const { atWork, due } = state;
  const isNoted = atWork.get(key) === true && !isOwnEvent;
  atWork.delete(key);
  const rest = restOf(state, key, result);
  if (rest.next === undefined && result.kind !== 'failed') due.delete(key);
  return { ...rest, isNoted };
}

function restOf(state: ReconcileState, key: string, result: Reconciliation): Omit<Rest, 'isNoted'> {
  switch (result.kind) {
    case 'forgotten':
      forget(state, key);
      return { next: undefined, isNew: false };
    case 'unlisted':
      return { next: waitFor(state, key, result.cause), isNew: false };
    case 'unread': {
      const isNew = noteWord(state, key, `unread ${result.outcome.reason}`);
      return { next: nextReconciliation(state, key, result.outcome), isNew };
    }
    case 'judged': {
      const isNew = noteOutcome(state, key, result.outcome);
      return { next: nextReconciliation(state, key, result.outcome), isNew };
    }
    case 'failed':
      return { next: undefined, isNew: false };
  }
}

/** Drops the key without a conclusion about the cause that it waited for. */
function forget({ logged, waiting }: ReconcileState, key: string): void {
  logged.delete(key);
  waiting.forget(key);
}

/**
 * Records the outcome. Returns true if it differs from the last logged one. An answer always does,
 * and the key is then no longer recorded.
 */
function noteOutcome(state: ReconcileState, key: string, outcome: RequestOutcome): boolean {
  if (outcome.written === undefined) return noteWord(state, key, wordOf(outcome));
  state.logged.delete(key);
  return true;
}

/**
 * Returns for how many milliseconds requests have waited for the cause of this outcome, which they
 * share. 0 for a new cause.
 */
export function waitedFor(
  { waiting, clock }: Pick<ReconcileState, 'waiting' | 'clock'>,
  key: string,
  outcome: RequestOutcome,
): number {
  const cause = sharedCause(key, outcome);
  const since = cause === undefined ? undefined : waiting.waitedSince(cause);
  return since === undefined ? 0 : clock() - since;
}

function wordOf({ outcome, reason }: RequestOutcome): string {
  return `${outcome} ${reason}`;
}

/** Records the word of an outcome. Returns false if it equals the last logged one. */
function noteWord({ logged, intern }: ReconcileState, key: string, word: string): boolean {
  if (logged.get(key) === word) return false;
  logged.set(key, intern(word));
  return true;
}

/**
 * Lets the key wait with all other keys that wait for `cause`.
 *
 * @returns when the key is retried by itself
 */
function waitFor({ waiting, clock }: ReconcileState, key: string, cause: string): ReconcileResult {
  return { requeueAt: clock() + waiting.join(key, cause) };
}

/** Returns the cause that the request shares with others while it waits. Undefined if none does. */
function sharedCause(
  key: string,
  { outcome, reason, sharedBy }: RequestOutcome,
): string | undefined {
  if (outcome !== 'waiting' || sharedBy === undefined) return undefined;
  return sharedBy === 'signer' ? `${partsOf(key).signerName} ${reason}` : reason;
}

/** Returns when a key is reconciled again after this outcome. */
function nextReconciliation(
  state: ReconcileState,
  key: string,
  outcome: RequestOutcome,
): ReconcileResult {
  const { again } = outcome;
  const cause = sharedCause(key, outcome);
  if (cause !== undefined) return waitFor(state, key, cause);
  if (again === 'on-change') {
    // It did not get past the cause, so nothing is known about what other keys wait for.
    state.waiting.forget(key);
    return undefined;
  }
  state.waiting.solved(key);
  if (again !== undefined) return again;
  return outcome.outcome === 'waiting' ? 'backoff' : undefined;
}
