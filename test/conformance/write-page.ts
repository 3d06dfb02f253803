// SPDX-License-Identifier: Apache-2.0
/** `make conformance`: holds three signers to the kit, and writes docs/reference/conformance.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { renderPage, type Column } from '../support/conformance/page.ts';
import { RUNS, conformanceOf, startUpstream } from '../support/conformance/signers.ts';
import { startFixture } from '../support/fixture.ts';

const page = join(import.meta.dirname, '../../docs/reference/conformance.md');
const fixture = await startFixture();
try {
  const upstream = await startUpstream(fixture.cluster);
  const columns: Column[] = [];
  for (const run of RUNS) {
    const { results } = await conformanceOf(fixture.cluster, run);
    console.error(`${run.of} ${run.kind}: ${results.length} cases`);
    columns.push({ run, results });
  }
  await upstream.stop();
  const options = await resolveConfig(page);
  writeFileSync(page, await format(renderPage(columns), { ...options, filepath: page }));
} finally {
  await fixture.stop();
}
