// SPDX-License-Identifier: Apache-2.0
/** Writes docs/reference/metrics.md. test/app/metrics-page.test.ts compares it. */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { METRICS_PAGE, renderMetrics } from './metrics-page.ts';

const options = { ...(await resolveConfig(METRICS_PAGE)), parser: 'markdown' };
await writeFile(METRICS_PAGE, await format(renderMetrics(), options));
