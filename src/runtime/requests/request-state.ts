// SPDX-License-Identifier: Apache-2.0
/**
 * What a replica knows of each request besides the request itself, and the transitions between.
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
  /** Keys at work; true: a watch event came meanwhile. */
  readonly atWork: Map<string, boolean>;
  /** Keys that come back without an event; until a look has ended, each that is at work is one. */
  readonly due: Set<string>;
  /** What was logged of a pending request last: the same is not logged again as news. */
  readonly logged: Map<string, string>;
  /** Words that were logged are few, and many requests share one. */
  readonly intern: Intern;
  /** Keys that wait for what others wait for, too. */
  readonly waiting: BackoffGroups;
  readonly clock: Clock;
}

/** Why a key came from the watch: it differs in what is looked at, or a new list shows it once more. */
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

/** @returns whether the key is to be queued now */
export function onWatchEvent(
  { atWork, due }: ReconcileState,
  key: string,
  why: WatchCause,
): boolean {
  // What a new list shows again, after a server was away, need not wait out its backoff.
  if (why !== 'changed' && !due.has(key)) return false;
  if (!atWork.has(key)) return true;
  // It may be our own write, which the watch brings before it is answered.
  atWork.set(key, true);
  return false;
}

/** A worker has taken the key. It is due until it is known that it is not: what throws comes back. */
export function start({ atWork, due }: ReconcileState, key: string): void {
  due.add(key);
  atWork.set(key, false);
}

/** What the watch brought meanwhile was our own write, or is older. */
export function ignoreEvents({ atWork }: ReconcileState, key: string): void {
  atWork.set(key, false);
}

/** The look has come to its end. */
export function settle({ due }: ReconcileState, key: string, next: ReconcileResult): void {
  if (next === undefined) due.delete(key);
}

/** The worker leaves the key. @returns whether an event came meanwhile, so that it is to be queued */
export function finish({ atWork }: ReconcileState, key: string): boolean {
  const noted = atWork.get(key) === true;
  atWork.delete(key);
  return noted;
}

/** Nothing is known of the key any longer. That says nothing of what it waited for. */
export function forget({ logged, waiting }: ReconcileState, key: string): void {
  logged.delete(key);
  waiting.forget(key);
}

/** @returns whether the last word logged of the key was another one; remembers this one */
export function isNews({ logged, intern }: ReconcileState, key: string, word: string): boolean {
  if (logged.get(key) === word) return false;
  logged.set(key, intern(word));
  return true;
}

/** Waits with all others that wait for `cause`. @returns when the key is looked at again by itself */
export function waitFor(
  { waiting, clock }: ReconcileState,
  key: string,
  cause: string,
): ReconcileResult {
  return { requeueAt: clock() + waiting.join(key, cause) };
}

/** When a key is looked at again after this outcome. */
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
    // It got nowhere: that says nothing of what others wait for.
    state.waiting.forget(key);
    return undefined;
  }
  state.waiting.solved(key);
  if (again !== undefined) return again;
  return outcome.outcome === 'waiting' ? 'backoff' : undefined;
}
