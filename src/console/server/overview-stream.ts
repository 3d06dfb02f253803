// SPDX-License-Identifier: Apache-2.0
import { overviewOf } from '../pages/overview.ts';
import type { ConsoleInit, KnownReadings, Readings } from '../readings.ts';
import type { WriteChunk } from './stream.ts';

/** The dependencies of a stream of the page Overview. */
export interface OverviewStreamInit extends Pick<ConsoleInit, 'delay'> {
  readonly readings: Pick<Readings, 'now' | 'known'>;
  /** Reports whether the session of the stream has ended. */
  readonly hasEnded: () => boolean;
}

/** Interval between two checks of what was read. */
const STEP_MS = 500;

/** Sends the page whenever more of it is known, and ends once all of it is. */
export async function streamOverview(
  { readings, hasEnded, delay }: OverviewStreamInit,
  show: string | undefined,
  write: WriteChunk,
  signal: AbortSignal,
): Promise<void> {
  let sent: KnownReadings | undefined;
  const hasLeft = (): boolean => signal.aborted;
  while (!hasLeft()) {
    if (hasEnded()) {
      await write('event: ended\ndata: \n\n');
      return;
    }
    const known = readings.known();
    if (sent === undefined || hasChanged(sent, known)) {
      sent = known;
      const now = readings.now();
      const model = overviewOf(known, { now, show });
      await write(`data: ${JSON.stringify({ now, model })}\n\n`);
    }
    if (known.reading === undefined) {
      await write('event: whole\ndata: \n\n');
      return;
    }
    await delay(STEP_MS, signal).catch(() => undefined);
  }
}

function hasChanged(before: KnownReadings, now: KnownReadings): boolean {
  return (
    before.facts !== now.facts ||
    before.signers !== now.signers ||
    before.issued !== now.issued ||
    JSON.stringify([before.reading, before.failures]) !==
      JSON.stringify([now.reading, now.failures])
  );
}
