// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { Clock } from '#base/ports.ts';

/** The local clock, and the client that knows its offset from the API server's. */
export interface Clocks {
  readonly clock: Clock;
  readonly client: Pick<Client, 'clockOffset'>;
}

/**
 * Returns the API server's time in milliseconds since 1970, estimated from the Date headers of its
 * responses. All times that others read come from this clock, which every component shares, and not
 * from that of one node. Examples are the validity of a leaf, the time since when an anchor is
 * served, and the time until when a CA is trusted.
 */
export function serverTime({ clock, client }: Clocks): number {
  return clock() - client.clockOffset();
}

/**
 * The largest plausible offset. Above it one of the two clocks is broken, and it is unknown which.
 * Synchronized clocks are much closer. A leaf could get any year.
 */
export const MAX_CLOCK_OFFSET_MS = 10 * 60_000;

/** Reports whether the last known offset is above {@link MAX_CLOCK_OFFSET_MS}. */
export function areClocksApart({ client }: Pick<Clocks, 'client'>): boolean {
  return Math.abs(client.clockOffset()) > MAX_CLOCK_OFFSET_MS;
}

/**
 * Reports whether the offset is above {@link MAX_CLOCK_OFFSET_MS}, and still is after one more
 * request. The last response may be from before a clock was corrected, or before this machine
 * slept.
 *
 * @param ask - sends any request to the API server
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
 * Prevents all signing while the clocks are apart, also after one more request.
 *
 * @param component - names the node whose clock the message is about
 * @throws SignerError CLOCKS_APART (`wait`)
 */
export async function requireClocks(
  component: Clocks & { readonly name: string },
  ask: () => Promise<unknown>,
): Promise<void> {
  if (!(await areClocksStillApart(component, ask))) return;
  const whose = `the clock of the node on which ${component.name} runs`;
  throw new SignerError({
    code: 'CLOCKS_APART',
    disposition: 'wait',
    message: `signing is paused: ${offsetText(component.client.clockOffset(), whose)} (limit ${MAX_CLOCK_OFFSET_MS / 1000} s); correct the wrong clock: countersign check --explain component-clocks`,
  });
}

/**
 * The limit of a clock's jump. If a clock jumps further between a decision and its write, the
 * decision is void.
 */
const CLOCK_JUMP_MS = 60_000;

/**
 * Reports whether no clock jumped since a decision. Call it after a request to the API server,
 * whose response updates the offset.
 *
 * @param judgedAt - milliseconds, by {@link serverTime}
 */
export function isSameClock(clocks: Clocks, judgedAt: number): boolean {
  return Math.abs(serverTime(clocks) - judgedAt) < CLOCK_JUMP_MS;
}

/**
 * Reports whether a delay still runs. One that a wrong clock began far in the future has ended. The
 * estimated time may also fall back by a second, which ends no delay that is longer.
 *
 * @param now - milliseconds, by {@link serverTime} like `from` and `until`
 */
export function isWithinDelay(
  now: number,
  { from, until }: { readonly from: number; readonly until: number },
): boolean {
  return Math.abs(now - from) < until - from;
}

/** The longest timer, which bounds the effect of a wrong clock. */
const MAX_REQUEUE_MS = 3_600_000;

/**
 * Returns when to reconcile an object again that changes at the time `at`: milliseconds by the
 * local clock, at most an hour from now.
 *
 * @param at - milliseconds, by {@link serverTime}. Undefined if nothing changes with time.
 */
export function requeueAt(
  { clock, client }: Clocks,
  at: number | undefined,
): { readonly requeueAt: number } {
  const exact = at === undefined ? Infinity : at + client.clockOffset();
  return { requeueAt: Math.min(exact, clock() + MAX_REQUEUE_MS) };
}

/**
 * Returns `the local clock is 75 s ahead of the API server's`.
 *
 * @param clockOffset - milliseconds, positive if the local clock is ahead
 * @param whose - names the clock for readers of another machine
 */
export function offsetText(clockOffset: number, whose = 'the local clock'): string {
  const seconds = Math.round(Math.abs(clockOffset) / 1000);
  const way = clockOffset < 0 ? 'behind' : 'ahead of';
  return `${whose} is ${seconds} s ${way} the API server's`;
}
