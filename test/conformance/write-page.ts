// SPDX-License-Identifier: Apache-2.0
/** `make conformance`: holds three signers to the run, and writes docs/reference/conformance.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { renderPage, type Column } from '../support/conformance/page.ts';
import { RUNS, conformanceOf, startSigners } from '../support/conformance/cluster-signers.ts';

const page = join(import.meta.dirname, '../../docs/reference/conformance.md');
const fixture = await startSigners();
try {
  const columns = await Promise.all(
    RUNS.map(async (run): Promise<Column> => {
      const { results, seconds } = await conformanceOf(fixture.cluster, run);
      console.error(`${run.of} ${run.kind}: ${results.length} cases in ${seconds} s`);
      return { run, results };
    }),
  );
  const options = await resolveConfig(page);
  writeFileSync(page, await format(renderPage(columns), { ...options, filepath: page }));
} finally {
  await fixture.stop();
}
