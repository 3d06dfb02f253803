// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { STACKS } from '../counters/fold-stacks.ts';
import { flameGraph } from './flame-graph.ts';
import { PLOT, performancePage, verdictsOf } from './page.ts';
import { marksPlot } from './plot.ts';
import { readChapters } from './read-results.ts';

const BENCH = join(import.meta.dirname, '..');
/** The flame graph's name, beside the page. */
const FLAME_GRAPH = 'drain-flame.svg';

const REFERENCE = join(BENCH, '../docs/reference');

/** Where each file lies, and what it must hold. */
export async function performanceFiles(): Promise<ReadonlyMap<string, string>> {
  const chapters = readChapters(join(BENCH, 'results'), join(BENCH, 'notes'));
  const page = join(REFERENCE, 'performance.md');
  const options = await resolveConfig(page);
  const markdown = await format(performancePage(chapters), { ...options, parser: 'markdown' });
  const stacks = join(BENCH, 'results', STACKS);
  return new Map([
    [page, markdown],
    [join(REFERENCE, PLOT), marksPlot(chapters.flatMap(verdictsOf))],
    ...(existsSync(stacks)
      ? [[join(REFERENCE, FLAME_GRAPH), flameGraph(readFileSync(stacks, 'utf8'))] as const]
      : []),
  ]);
}
