// SPDX-License-Identifier: Apache-2.0
import { randomFillSync } from 'node:crypto';
import type { Random } from '../ports.ts';
import { createRandom } from './random.ts';

/** The system's own source, for all of a process. */
export const random: Random = createRandom((bytes) => {
  randomFillSync(bytes);
});
