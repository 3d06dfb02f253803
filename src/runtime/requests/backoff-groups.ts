// SPDX-License-Identifier: Apache-2.0
import { createRateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import type { Clock, Random } from '../../ports.ts';

/**
 * Requests that wait for the same cause: a CA that is missing, a right, a clock, a server that is
 * away. One of them after the other looks whether it has gone, soon and then every half minute; the
 * others rest, and are woken as soon as one got past it. So ten thousand cost no more than one, and
 * what heals is noticed for all of them as soon as for one.
 */
export interface BackoffGroups {
  /** `key` waits for `cause`. @returns milliseconds until it looks again by itself */
  readonly join: (key: string, cause: string) => number;
  /** It waits for no shared cause any longer: the others of what it waited for look at once. */
  readonly solved: (key: string) => void;
  /** Nobody looks at it any longer; that says nothing of what it waited for. */
  readonly forget: (key: string) => void;
}

export interface BackoffGroupsInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly wake: (key: string) => void;
  readonly wakeAfter: (key: string, milliseconds: number) => void;
}

/** One of a cause looks again at once, and then so often: a grant heals within half a minute. */
const FIRST_LOOK_MS = 5;
const MAX_LOOK_MS = 30_000;
/**
 * The others look by themselves in case that what keeps the scouts is theirs alone; as client-go's
 * longest wait. A core decides some thousands a second: these looks are a hundredth of that.
 */
const FIRST_REST_MS = 30_000;
export const MAX_REST_MS = 1_000_000;
const RESTED_PER_SECOND = 20;
const RESTED_BURST = 100;

interface Cause {
  readonly name: string;
  /** In the order in which they were looked at last. */
  readonly keys: Set<string>;
  scout: string | undefined;
}

export function createBackoffGroups(init: BackoffGroupsInit): BackoffGroups {
  const { clock, random } = init;
  /** By cause. */
  const looks = createRateLimiter({ firstMs: FIRST_LOOK_MS, maxMs: MAX_LOOK_MS, random });
  /** By key. */
  const rests = createRateLimiter({
    firstMs: FIRST_REST_MS,
    maxMs: MAX_REST_MS,
    random,
    overall: { perSecond: RESTED_PER_SECOND, burst: RESTED_BURST, clock },
  });
  const causes = new Map<string, Cause>();
  const waiting = new Map<string, Cause>();

  function causeOf(name: string): Cause {
    const cause = causes.get(name) ?? { name, keys: new Set(), scout: undefined };
    causes.set(name, cause);
    return cause;
  }

  /** The next one to look, in turn: what keeps one of them may not be what keeps the others. */
  function sendScout(cause: Cause): number {
    const delay = looks.nextDelay(cause.name);
    for (const key of cause.keys) {
      cause.scout = key;
      init.wakeAfter(key, delay);
      break;
    }
    return delay;
  }

  function leave(key: string, cause: Cause): void {
    waiting.delete(key);
    cause.keys.delete(key);
    rests.forget(key);
  }

  function end(cause: Cause): void {
    causes.delete(cause.name);
    looks.forget(cause.name);
  }

  function past(key: string): void {
    const cause = waiting.get(key);
    if (cause === undefined) return;
    leave(key, cause);
    end(cause);
    for (const other of cause.keys) {
      waiting.delete(other);
      rests.forget(other);
      init.wake(other);
    }
  }

  return {
    solved: past,
    join: (key, name) => {
      if (waiting.get(key)?.name !== name) past(key);
      const cause = causeOf(name);
      waiting.set(key, cause);
      cause.keys.delete(key);
      cause.keys.add(key);
      const rest = rests.nextDelay(key);
      const mine = cause.scout === undefined || cause.scout === key;
      const soon = mine ? sendScout(cause) : rest;
      return cause.scout === key ? soon : rest;
    },
    forget: (key) => {
      const cause = waiting.get(key);
      if (cause === undefined) return;
      leave(key, cause);
      if (cause.keys.size === 0) end(cause);
      else if (cause.scout === key) sendScout(cause);
    },
  };
}
