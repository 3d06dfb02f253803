// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { format, resolveConfig } from 'prettier';
import { METRICS_PAGE, renderMetrics } from '../../build/metrics-page.ts';

test('docs/reference/metrics.md is the output of make metrics-docs', async () => {
  const options = { ...(await resolveConfig(METRICS_PAGE)), parser: 'markdown' };
  const page = await readFile(METRICS_PAGE, 'utf8');
  assert.equal(page, await format(renderMetrics(), options));
});
