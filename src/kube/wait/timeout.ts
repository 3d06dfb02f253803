// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '#base/ports.ts';

/** Runs `work` with a signal that is aborted after `ms` milliseconds, or when `outer` is. */
export async function withTimeout<T>(
  { delay, ms, outer }: { readonly delay: Delay; readonly ms: number; readonly outer: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  delay(ms, done.signal).then(
    () => late.abort(new Error(`no answer within ${Math.round(ms)} ms`)),
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([outer, late.signal]));
  } finally {
    done.abort();
  }
}
