// SPDX-License-Identifier: Apache-2.0
/** API servers and etcds that die, hang and come back. */
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readState, stateFileOf } from '../../cluster/state.ts';
import { until } from '../../cluster/until.ts';
import { KINDS, type Wanted } from '../lab/wanted.ts';
import type { Passed } from '../proxy/traffic.ts';
import { bench } from './bench.ts';

/** Requests come while `happens` does. */
async function loadDuring(happens: () => Promise<void>): Promise<readonly Wanted[]> {
  const first = await bench.requests(10, KINDS);
  // As many as are in work when it begins; those that follow are made when the server is back.
  const during = bench.requests(10, KINDS);
  await happens();
  return [...first, ...(await during), ...(await bench.requests(5, KINDS))];
}

test('two kills of the API server under load lose, duplicate and refuse nothing', async () => {
  const wanted = await loadDuring(async () => {
    for (let times = 0; times < 2; times += 1) {
      await bench.cluster.apiServer.kill();
      await bench.cluster.apiServer.start();
    }
  });
  await bench.allDelivered(wanted, { auditMayMiss: true });
});

test('etcd restarts under load: nothing is lost, answered twice or refused', async () => {
  const wanted = await loadDuring(() => bench.cluster.etcd.restart());
  await bench.allDelivered(wanted, { auditMayMiss: true });
});

test('etcd has no space left: writes wait, and succeed once there is space', async () => {
  const begun = Date.now();
  bench.proxy.script.set('* PUT */status answer 503');
  const wanted = await bench.requests(10);
  // Approved by then: a full etcd would take no approval, and leave nothing to be signed.
  await until('both have something to write', REFUSED_MS, () => bothSince(begun, isKeptAway));
  await alarm('ACTIVATE');
  try {
    const from = Date.now();
    bench.proxy.script.set('');
    await until('writes of both are refused', REFUSED_MS, () => bothSince(from, isNotStored));
  } finally {
    await alarm('DEACTIVATE');
  }
  await bench.allDelivered([...wanted, ...(await bench.requests(5))], { auditMayMiss: true });
});

test('an API server hangs for a while: each write is stored once', async () => {
  const wanted = await loadDuring(async () => {
    bench.cluster.apiServer.signal('SIGSTOP');
    // How long it hangs is the point.
    await sleep(3_000);
    bench.cluster.apiServer.signal('SIGCONT');
  });
  await bench.allDelivered(wanted);
});

/** Who met 503 for a while looks again every half minute. */
const REFUSED_MS = 90_000;

/** Sets off or ends etcd's alarm by hand, as a full database does: it then takes no writes. */
async function alarm(action: 'ACTIVATE' | 'DEACTIVATE'): Promise<void> {
  const { components } = readState(stateFileOf(bench.cluster.directory));
  const { origin } = new URL(components?.etcd.readyUrl ?? '');
  const body = JSON.stringify({ action, alarm: 'NOSPACE', memberID: '1' });
  const answer = await fetch(`${origin}/v3/maintenance/alarm`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
}

/** Whether both writers' writes since then met this. */
function bothSince(from: number, met: (passed: Passed) => boolean): boolean {
  const writes = bench.proxy.traffic.find(
    ({ at, method, path }) => at >= from && method === 'PUT' && path.endsWith('/status'),
  );
  return ['signer', 'pcr-issuer'].every((writer) =>
    writes.some((each) => each.client === writer && met(each)),
  );
}

/** The API server itself could not store it. */
function isNotStored({ status = 0 }: Passed): boolean {
  return status >= 500;
}

function isKeptAway({ fault }: Passed): boolean {
  return fault !== undefined;
}
