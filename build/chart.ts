// SPDX-License-Identifier: Apache-2.0
/** Writes deploy/chart from src/install. test/architecture/chart.test.ts compares the two. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chartFiles } from './chart/files.ts';

const root = join(import.meta.dirname, '..');
const files = await chartFiles();
await rm(join(root, 'deploy/chart'), { recursive: true, force: true });
for (const [path, text] of files) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
