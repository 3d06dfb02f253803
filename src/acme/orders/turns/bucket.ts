// SPDX-License-Identifier: Apache-2.0
import type { TurnQueue } from './turn-queue.ts';

/** A rate limit: `burst` at once, then one every `everyMs`. */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Our own counter for a limit of the server. */
export interface Bucket<T extends { readonly namespace: string }> {
  readonly rate: Rate | undefined;
  tokens: number;
  /** Time at which `tokens` was counted. */
  countedAt: number;
  pausedUntil: number;
  readonly waiting: TurnQueue<T>;
}

/** Counting part of a bucket. */
type Counter = Pick<
  Bucket<{ readonly namespace: string }>,
  'rate' | 'tokens' | 'countedAt' | 'pausedUntil'
>;

function tokensAt({ rate, tokens, countedAt }: Counter, now: number): number {
  if (rate === undefined) return Infinity;
  if (countedAt === -Infinity) return rate.burst;
  return Math.min(rate.burst, tokens + Math.max(0, now - countedAt) / rate.everyMs);
}

/** Returns the time at which the bucket has a whole token and is not paused. */
export function readyAt({ rate, tokens, countedAt, pausedUntil }: Counter): number {
  if (rate === undefined || tokens >= 1) return pausedUntil;
  return Math.max(pausedUntil, Math.ceil(countedAt + (1 - tokens) * rate.everyMs));
}

/** Takes a share, or returns one. A returned share is available at once, up to the burst. */
export function change(
  bucket: Counter & { tokens: number; countedAt: number },
  by: number,
  now: number,
): void {
  const { rate } = bucket;
  if (rate === undefined) return;
  bucket.tokens = Math.min(rate.burst, tokensAt(bucket, now) + by);
  bucket.countedAt = Math.max(now, bucket.countedAt);
}

/** Reports whether the bucket equals a new one. */
export function isFull(
  bucket: Counter & { readonly waiting: { readonly size: number } },
  now: number,
): boolean {
  const { rate, pausedUntil, waiting } = bucket;
  const isWhole = rate === undefined || tokensAt(bucket, now) >= rate.burst;
  return waiting.size === 0 && pausedUntil <= now && isWhole;
}
