// SPDX-License-Identifier: Apache-2.0
import type { Component } from './component.ts';

/**
 * The API server's time in milliseconds, as near as its last answer tells. What is written for others
 * to go by (since when an anchor is served, until when a CA is trusted) is told by the clock that all
 * of them share, not by that of one node.
 */
export function serverTime({ clock, client }: Pick<Component, 'clock' | 'client'>): number {
  return clock() - client.clockOffset();
}

/** A clock that jumps by more than this between a look and a deed was not to be gone by. */
const CLOCK_JUMP_MS = 60_000;

/**
 * Whether what was judged at that time was judged by the clock of now. Asked after a question to the
 * API server, whose answer tells the time.
 *
 * @param judgedAt - milliseconds, by {@link serverTime}
 */
export function isSameClock(
  component: Pick<Component, 'clock' | 'client'>,
  judgedAt: number,
): boolean {
  return Math.abs(serverTime(component) - judgedAt) < CLOCK_JUMP_MS;
}

/** A timer that was set by a wrong clock would else be waited for as long as that clock was wrong. */
export const LOOK_AGAIN_MS = 3_600_000;

/**
 * When to look at something again that time changes at `at`, by our own clock.
 *
 * @param at - milliseconds, by {@link serverTime}; undefined where time changes nothing
 */
export function lookAgain(
  { clock, client }: Pick<Component, 'clock' | 'client'>,
  at: number | undefined,
): { readonly at: number } {
  const exact = at === undefined ? Infinity : at + client.clockOffset();
  return { at: Math.min(exact, clock() + LOOK_AGAIN_MS) };
}
