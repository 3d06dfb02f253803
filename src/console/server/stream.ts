// SPDX-License-Identifier: Apache-2.0
import type { LiveRequests } from '../live-requests.ts';
import {
  matchesFilter,
  requestPage,
  rowKey,
  REQUESTS_A_PAGE,
  type RequestDelta,
  type RequestFilter,
  type RequestRow,
} from '../pages/requests.ts';
import type { ConsoleInit, Readings } from '../readings.ts';

/**
 * Writes one chunk. Resolves once the reader can take more, so a reader that stops reading has no
 * chunks in memory. Rejects when the reader has disconnected.
 */
export type WriteChunk = (chunk: string) => Promise<void>;

/** The dependencies of a stream. */
export interface StreamInit extends Pick<ConsoleInit, 'delay' | 'monotonic'> {
  readonly live: LiveRequests;
  readonly readings: Pick<Readings, 'now'>;
  /** Reports whether the session of the stream has ended. */
  readonly hasEnded: () => boolean;
}

/** Changes of this time go together: a burst of requests redraws the page once. */
const DELTA_MS = 250;
/** Interval of comments, by which proxies and this server see that the reader is there. */
const HEARTBEAT_MS = 5_000;

/**
 * Sends the rows of a page, then each change of them and of the failures, as server-sent events. A
 * browser that connects again begins with the whole page, so no change is lost.
 */
export async function streamRequests(
  init: StreamInit,
  filter: RequestFilter,
  write: WriteChunk,
  signal: AbortSignal,
): Promise<void> {
  const { live, readings, monotonic } = init;
  const hasLeft = (): boolean => signal.aborted;
  // A subscription would never end.
  if (hasLeft()) return;
  const changed = new Map<string, RequestRow>();
  let isWhole = true;
  live.subscribe(({ now, before }) => {
    const isIn = now !== undefined && matchesFilter(now, filter);
    // A row that leaves, and any change of a later page, moves the others.
    if (isIn && filter.from === 0 && !isWhole) changed.set(rowKey(now), now);
    else if (isIn || (before !== undefined && matchesFilter(before, filter))) isWhole = true;
    if (changed.size <= REQUESTS_A_PAGE) return;
    changed.clear();
    isWhole = true;
  }, signal);
  let beat = monotonic();
  let reported = '';
  while (!hasLeft()) {
    if (init.hasEnded()) {
      await write('event: ended\ndata: \n\n');
      return;
    }
    const delta = isWhole ? whole() : part();
    isWhole = false;
    changed.clear();
    const failures = live.failures();
    if (delta !== undefined || failures.join() !== reported) {
      reported = failures.join();
      await write(`data: ${JSON.stringify({ now: readings.now(), delta, failures })}\n\n`);
      beat = monotonic();
    } else if (monotonic() - beat > HEARTBEAT_MS) {
      await write(':\n\n');
      beat = monotonic();
    }
    await init.delay(DELTA_MS, signal).catch(() => undefined);
  }

  function whole(): RequestDelta {
    return { page: requestPage(live.rows(), filter) };
  }

  function part(): RequestDelta | undefined {
    if (changed.size === 0) return undefined;
    const { total } = requestPage(live.rows(), filter);
    return { put: [...changed.values()], total };
  }
}
