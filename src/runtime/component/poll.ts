// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '../../ports.ts';

/** What to poll. */
export interface PollInit {
  /** What `look` depends on; if this text changes, `look` is called at once. */
  readonly subject: () => string;
  /** Polls, and resolves to the milliseconds for which the result is valid. Never rejects. */
  readonly look: () => Promise<number>;
  readonly delay: Delay;
}

/** How soon a change of the subject is noticed. */
const NOTICE_MS = 1_000;

/** Calls `look` until `signal` is aborted: when the subject changes, and when the last result expires. */
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
