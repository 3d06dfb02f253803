// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '#base/ports.ts';

/** The subject of a poll. */
export interface PollInit {
  /** Returns what `look` depends on, as text. If it changes, `look` runs at once. */
  readonly subject: () => string;
  /** Polls, and resolves to the milliseconds for which the result is valid. Never rejects. */
  readonly look: () => Promise<number>;
  readonly delay: Delay;
}

/** The delay until a change of the subject is noticed. */
const NOTICE_MS = 1_000;

/**
 * Calls `look` until `signal` is aborted: when the subject changes, and when the last result
 * expires.
 */
export async function poll({ subject, look, delay }: PollInit, signal: AbortSignal): Promise<void> {
  let seen: string | undefined;
  let left = 0;
  while (!signal.aborted) {
    const now = subject();
    if (left <= 0 || now !== seen) {
      seen = now;
      left = await look();
    }
    left -= NOTICE_MS;
    await delay(NOTICE_MS, signal).catch(() => undefined);
  }
}
