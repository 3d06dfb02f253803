// SPDX-License-Identifier: Apache-2.0
import { createRateLimiter, type RateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import type { Clock, Random } from '../../ports.ts';

/**
 * Requests that wait for the same cause: a CA that is missing, a permission, a clock, an API server that is
 * away. One of them after the other, the scout, is retried, soon and then every half minute; the others
 * rest, and are woken as soon as one got past the cause. So ten thousand cost no more than one, and what is
 * mended is noticed for all of them as soon as for one.
 */
export interface BackoffGroups {
  /** `key` waits for `cause`. @returns milliseconds until it is retried by itself */
  readonly join: (key: string, cause: string) => number;
  /** It waits for no shared cause any longer: the others of what it waited for are retried at once. */
  readonly solved: (key: string) => void;
  /** It is not retried any longer; that says nothing of what it waited for. */
  readonly forget: (key: string) => void;
}

/** What backoff groups are made from. */
export interface BackoffGroupsInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly wake: (key: string) => void;
  readonly wakeAfter: (key: string, milliseconds: number) => void;
}

/** The scout is retried at once, and then so often: a grant is noticed within half a minute. */
const FIRST_SCOUT_MS = 5;
const MAX_SCOUT_MS = 30_000;
/**
 * The others are retried by themselves in case that the scouts wait for something of their own; up to
 * client-go's longest delay. A core decides some thousands a second: these are a hundredth of that.
 */
const FIRST_MEMBER_MS = 30_000;
const MAX_MEMBER_MS = 1_000_000;
const MEMBERS = { perSecond: 20, burst: 100 };

interface Group {
  readonly cause: string;
  /** In the order in which they were retried last. */
  readonly members: Set<string>;
  scout: string | undefined;
}

interface Groups {
  readonly init: BackoffGroupsInit;
  readonly byCause: Map<string, Group>;
  readonly byKey: Map<string, Group>;
  /** By cause. */
  readonly scoutDelays: RateLimiter;
  /** By key. */
  readonly memberDelays: RateLimiter;
}

/** No groups yet. */
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
  const group = byCause.get(cause) ?? { cause, members: new Set(), scout: undefined };
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

/** The next one, in turn: what keeps one of them may not be what keeps the others. */
function sendScout({ scoutDelays, init }: Groups, group: Group): number {
  const delay = scoutDelays.nextDelay(group.cause);
  for (const key of group.members) {
    group.scout = key;
    init.wakeAfter(key, delay);
    break;
  }
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
