// SPDX-License-Identifier: Apache-2.0
/**
 * `make performance`: docs/reference/performance.md and its plot, from bench/results and
 * bench/notes.
 */
import { writeFileSync } from 'node:fs';
import { performanceFiles } from './write.ts';

for (const [file, text] of await performanceFiles()) writeFileSync(file, text);
