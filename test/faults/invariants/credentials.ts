// SPDX-License-Identifier: Apache-2.0
/** Tokens and CA files that are replaced while we work. */
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { EVERY_COMPONENT } from '../../support/cluster/component-process.ts';
import { newIdentity } from '../proxy/proxy.ts';
import { bench } from './bench.ts';

test('an invalid token makes the client read its file again at the first 401', async () => {
  for (const name of EVERY_COMPONENT) {
    // Expired for the API server, as far as its user can tell.
    const { tokenFile } = bench.access(name);
    writeFileSync(tokenFile, 'not-a-token');
  }
  // As at the end of the minute for which credentials are remembered.
  bench.proxy.script.set('* ANY * nth 1 answer 401\n* ANY * nth 3 answer 401');
  const wanted = await bench.requests(5);
  await Promise.all(EVERY_COMPONENT.map((name) => bench.access(name).renewToken()));
  await bench.allDelivered([...wanted, ...(await bench.requests(5))]);
  assert.ok((await counting('token')) >= 1, 'counted by who was refused');
});

test('every call gets 401 for a while: no request is denied, and all are answered', async () => {
  bench.proxy.script.set('* ANY * first 60 answer 401');
  await bench.allDelivered(await bench.requests(10));
  assert.ok((bench.proxy.tally.counts().get('ANY: answer 401') ?? 0) >= 40);
});

test('the next CA is added to the CA file before the server uses it: no call fails', async () => {
  const next = await newIdentity();
  for (const name of EVERY_COMPONENT) appendFileSync(bench.access(name).caFile, next.cert);
  // What makes them read their files before the minute is over.
  bench.proxy.script.set(
    EVERY_COMPONENT.map((name) => `${name} ANY * nth 1 answer 401`).join('\n'),
  );
  await bench.allDelivered(await bench.requests(5));
  bench.proxy.changeCertificate(next);
  await bench.allDelivered(await bench.requests(5));
  // Of those that answered; who had nothing to do may not have called yet.
  assert.ok((await counting('tls')) >= 3);
});

/** How many of the components have counted that change in their metrics. */
async function counting(change: string): Promise<number> {
  const counts = await Promise.all(
    EVERY_COMPONENT.map(async (name) => {
      const text = await bench.component(name).process.metrics();
      const line = text
        .split('\n')
        .find((each) =>
          each.startsWith(`countersign_credentials_changes_total{change="${change}"`),
        );
      return Number(line?.split(' ').at(-1) ?? 0);
    }),
  );
  return counts.filter((count) => count > 0).length;
}
