// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loops } from '#app/assemble.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
import { startScriptedServer } from '../support/kube/scripted-server.ts';

const NOW = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;

test('each 429 halves the limit of a loop, also after the clock is set back', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: NOW });
  const server = await startScriptedServer();
  context.after(() => server.stop());
  server.always((call) => {
    call.answer(429, {}, { 'retry-after': '0' });
  });
  const loops = new Loops(createMetrics('signer', '1'));
  const { concurrency } = loops.create('requests');
  const credentials = { tls: {} };
  const client = loops.connect({
    connection: {
      server: server.url,
      credentials: () => Promise.resolve(credentials),
      invalidate: () => undefined,
    },
    userAgent: 'test/1',
    onRefused: () => undefined,
  });
  context.after(() => client.close());
  const limits: number[] = [concurrency.currentLimit()];
  for (const time of [NOW, NOW - HOUR, NOW - HOUR]) {
    context.mock.timers.setTime(time);
    await assert.rejects(client.request({ method: 'PUT', path: '/x' }), /429/);
    limits.push(concurrency.currentLimit());
  }
  assert.deepEqual(limits, [16, 8, 4, 2]);
});
