// SPDX-License-Identifier: Apache-2.0
/** API servers and etcds that die, hang and come back. */
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Wanted } from '../lab/wanted.ts';
import { bench } from './bench.ts';

/** Requests come while `happens` does. */
async function loadDuring(happens: () => Promise<void>): Promise<readonly Wanted[]> {
  const first = await bench.requests(10);
  // As many as are in work when it begins; those that follow are made when the server is back.
  const during = bench.requests(10);
  await happens();
  return [...first, ...(await during), ...(await bench.requests(5))];
}

test('kill −9 of the API server under load, and again: nothing is lost, delivered twice or ended', async () => {
  const wanted = await loadDuring(async () => {
    for (let times = 0; times < 2; times += 1) {
      await bench.cluster.apiServer.kill();
      await bench.cluster.apiServer.start();
    }
  });
  await bench.allDelivered(wanted, { auditMayMiss: true });
});

test('an etcd that is restarted under load: nothing is lost, delivered twice or ended', async () => {
  const wanted = await loadDuring(() => bench.cluster.etcd.restart());
  await bench.allDelivered(wanted, { auditMayMiss: true });
});

test('an API server that hangs for a while: what was sent lands once', async () => {
  const wanted = await loadDuring(async () => {
    bench.cluster.apiServer.signal('SIGSTOP');
    // How long it hangs is the point.
    await sleep(3_000);
    bench.cluster.apiServer.signal('SIGCONT');
  });
  await bench.allDelivered(wanted);
});
