// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../errors.ts';
import type { Delay, Log } from '../ports.ts';

/** An API server that is not up yet is asked again this often. */
const AGAIN_MS = 2_000;

/** Runs `work` until it succeeds; undefined when `signal` is aborted first. */
export async function retried<T>(
  work: () => Promise<T>,
  { delay, log, signal }: { delay: Delay; log: Log; signal: AbortSignal },
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'cannot start yet; trying again');
      await delay(AGAIN_MS, signal).catch(() => undefined);
    }
  }
  return undefined;
}
