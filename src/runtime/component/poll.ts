// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '../../ports.ts';

export interface PollInit {
  /** What is looked at; another text is a reason to look at once. */
  readonly subject: () => string;
  /** Looks, and says how many milliseconds that holds. Never rejects. */
  readonly look: () => Promise<number>;
  readonly delay: Delay;
}

/** How soon a change of the subject is noticed. */
const NOTICE_MS = 1_000;

/** Looks until `signal` is aborted: when the subject changed, and when a look holds no longer. */
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
