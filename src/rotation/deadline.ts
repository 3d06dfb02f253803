// SPDX-License-Identifier: Apache-2.0
import type { Held } from './held.ts';
import type { Due, Wish } from './wish.ts';

/**
 * Share of a CA's life that a successor may be late, for outages of ours, before leaves get shorter
 * than they should be; no more than an hour, which is a restart of everything.
 */
const LATE_SHARE = 20;
const MAX_LATE_SECONDS = 3_600;

/**
 * No CA is replaced for its age within a minute of its birth, whatever its durations say: whoever
 * wants a new one each second gets one a minute, and nobody's API server suffers.
 */
const MIN_AGE_SECONDS = 60;

/** When a CA's successor is due by time alone, and which of the two ends says so. */
export interface Deadline {
  /** Milliseconds. */
  readonly at: number;
  readonly reason: Extract<Due['reason'], 'RenewBefore' | 'LongestLeaf'>;
}

/**
 * The earlier of two ends: `renewBefore` before the CA's own; and early enough that, once the
 * successor is made and every kubelet has its anchor, the CA still outlives the longest leaf. So no
 * leaf is ever cut short by its CA, and no pod's falls below the API's hour.
 */
export function rotationDeadline(held: Held, wish: Wish, propagationSeconds: number): Deadline {
  const byWish = held.notAfter - wish.renewBeforeSeconds * 1000;
  const byLeaf = lastMoment(held, wish, propagationSeconds);
  const at = Math.max(held.bornAt + MIN_AGE_SECONDS * 1000, Math.min(byWish, byLeaf));
  return { at, reason: byLeaf <= byWish ? 'LongestLeaf' : 'RenewBefore' };
}

/** Until then a rotation can wait: begun later, leaves are cut short by the end of their CA. */
export function lastMoment(held: Held, wish: Wish, propagationSeconds: number): number {
  const { longestLeafSeconds } = wish;
  return held.notAfter - (longestLeafSeconds + propagationSeconds + lateSeconds(held)) * 1000;
}

/**
 * Whether a prepared CA has waited too long to begin. It is given the time to be published, even
 * where its durations leave it no time to sign.
 */
export function isSpent(held: Held, wish: Wish, propagationSeconds: number, now: number): boolean {
  const { at } = rotationDeadline(held, wish, propagationSeconds);
  const published = held.bornAt + (2 * propagationSeconds + lateSeconds(held)) * 1000;
  return now >= Math.max(at, published);
}

function lateSeconds({ durationSeconds }: Held): number {
  return Math.min(MAX_LATE_SECONDS, Math.floor(durationSeconds / LATE_SHARE));
}
