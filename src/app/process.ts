// SPDX-License-Identifier: Apache-2.0
import { randomFillSync } from 'node:crypto';
import type { Monotonic, Random } from '../ports.ts';
import { createPooledRandom } from './random.ts';
import { performance } from 'node:perf_hooks';

/** The system's own source, for all of a process. */
export const random: Random = createPooledRandom((bytes) => {
  randomFillSync(bytes);
});

/** Goes on while the process is stopped, and nobody sets it. */
export const monotonic: Monotonic = () => performance.now();
