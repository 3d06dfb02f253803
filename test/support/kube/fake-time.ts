// SPDX-License-Identifier: Apache-2.0
import { setImmediate as turn } from 'node:timers/promises';
import type { StartTimer } from '#kube/workqueue/delaying-queue.ts';
import type { Clock, Delay } from '#base/ports.ts';
import { pendingCrypto } from './pending-crypto.ts';

/** A clock that stands still until it is advanced, and the waiting that hangs on it. */
export interface FakeTime {
  readonly clock: Clock;
  readonly delay: Delay;
  readonly startTimer: StartTimer;
  /** How long each of those that wait has yet to wait, shortest first. */
  readonly waits: () => readonly number[];
  /** Fires what is due on the way, in order, and lets each have its consequences. */
  readonly advance: (milliseconds: number) => Promise<void>;
}

interface Timer {
  readonly due: number;
  readonly fire: () => void;
}

/** @param start - 1 January 2026 by default: far from zero, so that nothing passes by being 0 */
export function fakeTime(start = Date.UTC(2026, 0, 1)): FakeTime {
  let now = start;
  const timers = new Set<Timer>();

  const startTimer: StartTimer = (ms, action) => {
    const timer = { due: now + ms, fire: action };
    timers.add(timer);
    return () => timers.delete(timer);
  };

  return {
    clock: () => now,
    startTimer,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        const stop = startTimer(ms, resolve);
        const abort = (): void => {
          stop();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the port's law
          reject(signal?.reason);
        };
        if (signal?.aborted === true) abort();
        signal?.addEventListener('abort', abort, { once: true });
      }),
    waits: () => [...timers].map(({ due }) => due - now).sort((a, b) => a - b),
    advance: async (milliseconds) => {
      const end = now + milliseconds;
      for (;;) {
        await settle();
        const next = [...timers].sort((a, b) => a.due - b.due)[0];
        if (next === undefined || next.due > end) break;
        now = Math.max(now, next.due);
        timers.delete(next);
        next.fire();
      }
      now = end;
      await settle();
    },
  };
}

/** Turns of the event loop in a row without cryptography after which nothing more follows. */
const QUIET_TURNS = 5;

/** Waits until promises, and the signatures that they wait for, have come to rest. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = pendingCrypto() > 0 ? 0 : quiet + 1)
    await turn();
}
