// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Script } from 'node:vm';

/**
 * A thread whose clocks stand still until it is told to work or to sleep: the load of the machine
 * does not matter.
 */
export interface FakeThread {
  /** Uses CPU time. The watch ends it as V8 does: after the time that it was given. */
  work(milliseconds: number): void;
  /** Lets time pass in which the thread does not run. The watch ends that, too. */
  sleep(milliseconds: number): void;
  /** Milliseconds of CPU time so far. */
  used(): number;
  /** The time that each watch gave so far, in milliseconds. */
  readonly watches: readonly number[];
}

/** Longer than anything waits. */
export const ENDLESS_MS = 3_600_000;

/** Goes on from test to test: what they all use never sees time go back. */
const clock = { wall: 0, cpu: 0 };

/**
 * Replaces the clocks that the deadline of CEL looks at, and the watch of `node:vm`, until the test
 * ends.
 */
export async function startFakeThread({ mock }: TestContext): Promise<FakeThread> {
  // What a test before this one used counts for two turns.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  const watches: number[] = [];
  let endsAt = Infinity;
  mock.method(performance, 'now', () => clock.wall);
  mock.method(process, 'threadCpuUsage', (since?: NodeJS.CpuUsage): NodeJS.CpuUsage => ({
    user: clock.cpu * 1_000 - (since?.user ?? 0),
    system: 0,
  }));
  const run = Reflect.get(Script.prototype, 'runInThisContext') as () => unknown;
  mock.method(
    Script.prototype,
    'runInThisContext',
    function (this: Script, { timeout = Infinity }: { readonly timeout?: number }): unknown {
      watches.push(timeout);
      endsAt = clock.wall + timeout;
      try {
        return Reflect.apply(run, this, [{ displayErrors: false }]) as unknown;
      } finally {
        endsAt = Infinity;
      }
    },
  );
  function pass(milliseconds: number, isAtWork: boolean): void {
    const passed = Math.min(milliseconds, endsAt - clock.wall);
    clock.wall += passed;
    if (isAtWork) clock.cpu += passed;
    if (passed === milliseconds) return;
    throw Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  }
  return {
    watches,
    work: (milliseconds) => {
      pass(milliseconds, true);
    },
    sleep: (milliseconds) => {
      pass(milliseconds, false);
    },
    used: () => clock.cpu,
  };
}
