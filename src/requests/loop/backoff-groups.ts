// SPDX-License-Identifier: Apache-2.0
import { createRateLimiter, type RateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { Clock, Random } from '#base/ports.ts';

/**
 * Requests that wait for the same cause: a missing CA, a permission, a clock, an API server that
 * does not respond. One at a time, the scout, is retried, soon at first and then every half minute.
 * The others rest until a request gets past the cause, which wakes them all. So ten thousand
 * requests cost no more than one, and all of them notice a fix at once.
 */
export interface BackoffGroups {
  /**
   * Adds `key` to the requests that wait for `cause`.
   *
   * @returns milliseconds until it is retried without being woken
   */
  readonly join: (key: string, cause: string) => number;
  /** Returns since when requests have waited for `cause`, by the clock. Undefined if none does. */
  readonly waitedSince: (cause: string) => number | undefined;
  /** Records that the request got past its cause, and retries its group at once. */
  readonly solved: (key: string) => void;
  /** Removes the request from its group without a conclusion about the cause. */
  readonly forget: (key: string) => void;
}

/** Dependencies of backoff groups. `wake` adds a key to the queue. */
export interface BackoffGroupsInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly wake: (key: string) => void;
  readonly wakeAfter: (key: string, milliseconds: number) => void;
}

/** Delays of the scout, so that a fix is noticed within half a minute. */
const FIRST_SCOUT_MS = 5;
const MAX_SCOUT_MS = 30_000;
/**
 * The others are retried rarely, in case the scout waits for a cause of its own, up to client-go's
 * longest delay. A core decides some thousands a second, and these retries are a hundredth of that.
 */
const FIRST_MEMBER_MS = 30_000;
const MAX_MEMBER_MS = 1_000_000;
const MEMBERS = { perSecond: 20, burst: 100 };

interface Group {
  readonly cause: string;
  /** When its first member joined, in milliseconds. */
  readonly since: number;
  /** Members in the order of their last retry. */
  readonly members: Set<string>;
  scout: string | undefined;
}

interface Groups {
  readonly init: BackoffGroupsInit;
  readonly byCause: Map<string, Group>;
  readonly byKey: Map<string, Group>;
  /** Delays by cause. */
  readonly scoutDelays: RateLimiter;
  /** Delays by key. */
  readonly memberDelays: RateLimiter;
}

/** Creates an empty set of groups. */
export function createBackoffGroups(init: BackoffGroupsInit): BackoffGroups {
  const { clock, random } = init;
  const groups: Groups = {
    init,
    byCause: new Map(),
    byKey: new Map(),
    scoutDelays: createRateLimiter({ firstMs: FIRST_SCOUT_MS, maxMs: MAX_SCOUT_MS, random }),
    memberDelays: createRateLimiter({
      firstMs: FIRST_MEMBER_MS,
      maxMs: MAX_MEMBER_MS,
      random,
      overall: { ...MEMBERS, clock },
    }),
  };
  return {
    join: (key, cause) => join(groups, key, cause),
    waitedSince: (cause) => groups.byCause.get(cause)?.since,
    solved: (key) => {
      solved(groups, key);
    },
    forget: (key) => {
      forget(groups, key);
    },
  };
}

function join(groups: Groups, key: string, cause: string): number {
  const { byCause, byKey } = groups;
  if (byKey.get(key)?.cause !== cause) solved(groups, key);
  const group = byCause.get(cause) ?? {
    cause,
    since: groups.init.clock(),
    members: new Set(),
    scout: undefined,
  };
  byCause.set(cause, group);
  byKey.set(key, group);
  group.members.delete(key);
  group.members.add(key);
  const rest = groups.memberDelays.nextDelay(key);
  const mayScout = group.scout === undefined || group.scout === key;
  const soon = mayScout ? sendScout(groups, group) : rest;
  return group.scout === key ? soon : rest;
}

function solved(groups: Groups, key: string): void {
  const group = groups.byKey.get(key);
  if (group === undefined) return;
  leave(groups, key, group);
  end(groups, group);
  for (const other of group.members) {
    groups.byKey.delete(other);
    groups.memberDelays.forget(other);
    groups.init.wake(other);
  }
}

function forget(groups: Groups, key: string): void {
  const group = groups.byKey.get(key);
  if (group === undefined) return;
  leave(groups, key, group);
  if (group.members.size === 0) end(groups, group);
  else if (group.scout === key) sendScout(groups, group);
}

/** Makes the next member the scout, since one member's cause may differ from that of the others. */
function sendScout({ scoutDelays, init }: Groups, group: Group): number {
  const delay = scoutDelays.nextDelay(group.cause);
  const [next] = group.members;
  if (next === undefined) return delay;
  group.scout = next;
  init.wakeAfter(next, delay);
  return delay;
}

function leave({ byKey, memberDelays }: Groups, key: string, { members }: Group): void {
  byKey.delete(key);
  members.delete(key);
  memberDelays.forget(key);
}

function end({ byCause, scoutDelays }: Groups, { cause }: Group): void {
  byCause.delete(cause);
  scoutDelays.forget(cause);
}
