// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../ports.ts';

/** Our own clock, and how far it is off. */
export interface Clocks {
  readonly clock: Clock;
  readonly client: Pick<Client, 'clockOffset'>;
}

/**
 * The API server's time in milliseconds, as near as its answers tell. What is written for others to go
 * by (the times of a leaf, since when an anchor is served, until when a CA is trusted) is told by the
 * clock that all of them share, not by that of one node. Nothing else in here corrects a clock.
 */
export function serverTime({ clock, client }: Clocks): number {
  return clock() - client.clockOffset();
}

/**
 * Clocks that are set by anything at all are nearer to each other. Further apart one of the two is
 * broken, and nobody here can tell which: a leaf could be of any year.
 */
export const MAX_CLOCK_OFFSET_MS = 10 * 60_000;

/** Whether our clock and the API server's contradict each other, as far as is known. */
export function areClocksApart({ client }: Pick<Clocks, 'client'>): boolean {
  return Math.abs(client.clockOffset()) > MAX_CLOCK_OFFSET_MS;
}

/**
 * What is known may be what the API server answered long ago, before a clock was set right or this
 * machine slept: before anything waits for clocks, it is asked once more.
 *
 * @param ask - any question to the API server
 */
export async function areClocksStillApart(
  clocks: Clocks,
  ask: () => Promise<unknown>,
): Promise<boolean> {
  if (!areClocksApart(clocks)) return false;
  await ask();
  return areClocksApart(clocks);
}

/**
 * Nothing is signed by a clock that another one contradicts.
 *
 * @throws SignerError CLOCKS_APART (`wait`)
 */
export async function requireClocks(clocks: Clocks, ask: () => Promise<unknown>): Promise<void> {
  if (!(await areClocksStillApart(clocks, ask))) return;
  throw new SignerError({
    code: 'CLOCKS_APART',
    disposition: 'wait',
    message: `${offsetText(clocks.client.clockOffset())}; signing is paused until the clock that is wrong is corrected`,
  });
}

/** A clock that jumps by more than this between a look and a deed was not to be gone by. */
const CLOCK_JUMP_MS = 60_000;

/**
 * Whether what was judged at that time was judged by the clock of now. Asked after a question to the
 * API server, whose answer tells the time.
 *
 * @param judgedAt - milliseconds, by {@link serverTime}
 */
export function isSameClock(clocks: Clocks, judgedAt: number): boolean {
  return Math.abs(serverTime(clocks) - judgedAt) < CLOCK_JUMP_MS;
}

/** A timer that was set by a wrong clock would else be waited for as long as that clock was wrong. */
const MAX_REQUEUE_MS = 3_600_000;

/**
 * When to look at something again that time changes at `at`, by our own clock.
 *
 * @param at - milliseconds, by {@link serverTime}; undefined where time changes nothing
 */
export function requeueAt(
  { clock, client }: Clocks,
  at: number | undefined,
): { readonly requeueAt: number } {
  const exact = at === undefined ? Infinity : at + client.clockOffset();
  return { requeueAt: Math.min(exact, clock() + MAX_REQUEUE_MS) };
}

/** `our clock is 75 s ahead of that of the API server`; @param clockOffset - milliseconds */
export function offsetText(clockOffset: number): string {
  const seconds = Math.round(Math.abs(clockOffset) / 1000);
  const way = clockOffset < 0 ? 'behind' : 'ahead of';
  return `our clock is ${seconds} s ${way} that of the API server`;
}
