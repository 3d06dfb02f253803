// SPDX-License-Identifier: Apache-2.0
/**
 * Loaded into a contender by `--import`. It measures the pauses of the event loop between two
 * SIGUSR2, and then writes the longest one, in milliseconds, to the file of
 * {@link PAUSES_VARIABLE}.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PAUSES_VARIABLE, RESOLUTION_MS } from './pauses.ts';

const file = process.env[PAUSES_VARIABLE] ?? '';
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
process.once('SIGUSR2', () => {
  delays.enable();
  process.once('SIGUSR2', () => {
    // A timer of this resolution is late by as much when nothing pauses.
    writeFileSync(file, String(Math.max(0, delays.max / 1e6 - RESOLUTION_MS)));
  });
});
