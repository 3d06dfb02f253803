// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';

const pollMilliseconds = 50;

/**
 * Asks until the answer is something else than `undefined` and `false`. A probe that throws is
 * asked again, and its last error is the cause of the one at the deadline.
 */
export async function until<T>(
  what: string,
  milliseconds: number,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = Date.now() + milliseconds;
  let cause: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${milliseconds / 1000} s`, { cause });
    await delay(pollMilliseconds);
  }
}

/** Thrown by a probe when waiting any longer is of no use. */
export class Hopeless extends Error {}
