// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { PLOT, performancePage, verdictsOf } from './page.ts';
import { marksPlot } from './plot.ts';
import { readChapters } from './read-results.ts';

const BENCH = join(import.meta.dirname, '..');
const REFERENCE = join(BENCH, '../docs/reference');

/** Where each file lies, and what it must hold. */
export async function performanceFiles(): Promise<ReadonlyMap<string, string>> {
  const chapters = readChapters(join(BENCH, 'results'), join(BENCH, 'notes'));
  const page = join(REFERENCE, 'performance.md');
  const options = await resolveConfig(page);
  const markdown = await format(performancePage(chapters), { ...options, parser: 'markdown' });
  return new Map([
    [page, markdown],
    [join(REFERENCE, PLOT), marksPlot(chapters.flatMap(verdictsOf))],
  ]);
}
