// SPDX-License-Identifier: Apache-2.0
/** Writes the tables of docs/explanation/scaling.md again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled } from './page.ts';

const file = join(import.meta.dirname, '../../docs/explanation/scaling.md');
writeFileSync(file, filled(readFileSync(file, 'utf8')));
