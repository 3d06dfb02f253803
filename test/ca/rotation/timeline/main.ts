// SPDX-License-Identifier: Apache-2.0
/** Writes docs/explanation/rotation.svg, the timeline of a simulated run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { draw } from './draw.ts';
import { record } from './record.ts';

export const PICTURE = join(import.meta.dirname, '../../../../docs/explanation/rotation.svg');

if (import.meta.main) writeFileSync(PICTURE, draw(await record()));
