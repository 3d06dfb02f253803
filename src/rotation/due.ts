// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../api/object/time.ts';
import type { Asked } from './asked.ts';
import { lastMoment, rotationDeadline } from './deadline.ts';
import type { Held } from './held.ts';
import { type Due, unlike, type Wish } from './wish.ts';

export interface DueInput {
  readonly active: Held;
  /** When it became Active. */
  readonly activatedAt: number;
  readonly wish: Wish;
  readonly asked: Asked;
  readonly propagationSeconds: number;
  readonly now: number;
}

/** Why a CA that is fit to sign is to be replaced all the same; undefined while it is not. */
export function rotationDue(input: DueInput): Due | undefined {
  const { active, wish, asked, propagationSeconds, now } = input;
  if (now >= lastMoment(active, wish, propagationSeconds)) {
    const message = `its end, ${formatTime(active.notAfter)}, soon cuts leaves of ${wish.longestLeafSeconds} s short`;
    const { at } = rotationDeadline(active, wish, propagationSeconds);
    // Within a minute of its birth another would be no better.
    return now >= at ? { reason: 'LongestLeaf', message, canWait: false } : undefined;
  }
  const other = unlike(active, wish);
  if (other !== undefined) return other;
  const { at, reason } = rotationDeadline(active, wish, propagationSeconds);
  if (now >= at) {
    const message = `it ends at ${formatTime(active.notAfter)}; its successor is due since ${formatTime(at)}`;
    return { reason, message, canWait: true };
  }
  if (asked.rotateAt === undefined || now < asked.rotateAt) return undefined;
  if (input.activatedAt >= asked.rotateAt) return undefined;
  const message = `a CA that began to sign since ${formatTime(asked.rotateAt)} is asked for`;
  return { reason: 'Requested', message, canWait: true };
}
