// SPDX-License-Identifier: Apache-2.0
/** The page Restarts in a real browser, with workloads of a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAMESPACE_OPTED_IN, REFRESH } from '#workloads/refresh/opt-in.ts';
import type { Stand } from './recovery.ts';

/** Declares the tests. @param stand - called in the tests */
export function testRestarts(stand: () => Stand): void {
  test('a workload without its namespace is shown with the command that opts in', async () => {
    const { cluster, start, open, broken } = stand();
    const opened = await open(await start());
    const { page, base, context } = opened;
    await page.goto(`${base}/restarts`);
    const text = (await page.textContent('main')) ?? '';
    assert.match(text, /1 workload to restart or to look at, 0 up to date/);
    assert.match(text, /default\/proxy.*never.*kubectl label namespace default/);
    assert.deepEqual(await broken(opened), []);
    await context.close();
    await cluster.kubectl(['label', 'namespace', 'default', `${REFRESH}=${NAMESPACE_OPTED_IN}`]);
    const later = await open(await start());
    await later.page.goto(`${later.base}/restarts`);
    const after = (await later.page.textContent('main')) ?? '';
    assert.doesNotMatch(after, /never/);
    assert.match(after, /0 workloads to restart or to look at, 1 up to date/);
    await later.context.close();
  });
}
