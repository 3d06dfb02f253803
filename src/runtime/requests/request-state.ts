// SPDX-License-Identifier: Apache-2.0
/**
 * What a replica knows of each request besides the request itself, and the transitions between the states.
 *
 * ```text
 * watch event ─ onWatchEvent ─► queue ─ start ─► at work ─ finish ─► resting, until an event
 *                  ▲                                       │ ├─────► resting, until a time     (due)
 *                  └── noted while at work ────────────────┘ ├─────► resting, with all others that
 *                                                            │       wait for the same cause   (due)
 *                                                            └─────► answered or gone: forget
 * ```
 */
import type { DelayingQueue } from '../../kube/workqueue/delaying-queue.ts';
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import type { Clock, Random } from '../../ports.ts';
import { createBackoffGroups, type BackoffGroups } from './backoff-groups.ts';
import { createInterner, type Intern } from './interner.ts';
import type { RequestOutcome } from './outcome.ts';

/** By queue key ({@link requestKey}). The functions of this file own it. */
export interface ReconcileState {
  /** Keys in progress; true: a watch event arrived meanwhile. */
  readonly atWork: Map<string, boolean>;
  /**
   * Keys that are reconciled again without an event; each key in progress is one until its reconciliation has
   * completed.
   */
  readonly due: Set<string>;
  /** What was last logged of a pending request: a repetition is not logged again as news. */
  readonly logged: Map<string, string>;
  /** There are few distinct outcomes, and many requests share one. */
  readonly intern: Intern;
  /** Keys that wait for a cause that other keys share. */
  readonly waiting: BackoffGroups;
  readonly clock: Clock;
}

/**
 * Why the watch delivered a key: the reason decides what is compared. A new list may show a key once more.
 */
export type WatchCause = 'changed' | 'again';

const SEPARATOR = ' ';

/** The queue key of a request, from its signer name and its store key `namespace/name`. */
export function requestKey(signerName: string, storeKey: string): string {
  return signerName + SEPARATOR + storeKey;
}

/** The parts of a queue key. */
export function partsOf(key: string): { readonly signerName: string; readonly storeKey: string } {
  const at = key.indexOf(SEPARATOR);
  return { signerName: key.slice(0, at), storeKey: key.slice(at + 1) };
}

/** A state that knows no request. `clock` is our own; it says when keys are queued again. */
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
  // A request that a new list shows again, after a server was away, need not wait for the end of its backoff.
  if (why !== 'changed' && !due.has(key)) return false;
  if (!atWork.has(key)) return true;
  // The event may be our own write, which the watch can deliver before the response.
  atWork.set(key, true);
  return false;
}

/**
 * A worker has taken the key. The key counts as due until its reconciliation completes: if that throws, the
 * key is queued again.
 */
export function start({ atWork, due }: ReconcileState, key: string): void {
  due.add(key);
  atWork.set(key, false);
}

/** The event that arrived meanwhile was our own write, or is older. */
export function ignoreEvents({ atWork }: ReconcileState, key: string): void {
  atWork.set(key, false);
}

/** The reconciliation has completed. */
export function settle({ due }: ReconcileState, key: string, next: ReconcileResult): void {
  if (next === undefined) due.delete(key);
}

/**
 * The worker releases the key. @returns whether an event arrived meanwhile, so that the key must be queued
 * again
 */
export function finish({ atWork }: ReconcileState, key: string): boolean {
  const noted = atWork.get(key) === true;
  atWork.delete(key);
  return noted;
}

/** Drops the key. This says nothing about the cause that it waited for. */
export function forget({ logged, waiting }: ReconcileState, key: string): void {
  logged.delete(key);
  waiting.forget(key);
}

/** @returns whether the last logged outcome of the key was a different one; remembers this one */
export function isNews({ logged, intern }: ReconcileState, key: string, word: string): boolean {
  if (logged.get(key) === word) return false;
  logged.set(key, intern(word));
  return true;
}

/** Waits with all other keys that wait for `cause`. @returns when the key is retried by itself */
export function waitFor(
  { waiting, clock }: ReconcileState,
  key: string,
  cause: string,
): ReconcileResult {
  return { requeueAt: clock() + waiting.join(key, cause) };
}

/** When a key is reconciled again after this outcome. */
export function nextLook(
  state: ReconcileState,
  key: string,
  outcome: RequestOutcome,
): ReconcileResult {
  const { reason, sharedBy, again } = outcome;
  if (outcome.outcome === 'waiting' && sharedBy !== undefined) {
    const { signerName } = partsOf(key);
    return waitFor(state, key, sharedBy === 'signer' ? `${signerName} ${reason}` : reason);
  }
  if (again === 'on-change') {
    // It did not get past the cause: this says nothing about what other keys wait for.
    state.waiting.forget(key);
    return undefined;
  }
  state.waiting.solved(key);
  if (again !== undefined) return again;
  return outcome.outcome === 'waiting' ? 'backoff' : undefined;
}
