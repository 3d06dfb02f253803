// SPDX-License-Identifier: Apache-2.0
/** Two replicas that share the work by Leases, and one of them that stands still past its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../cluster/until.ts';
import type { ComponentName } from '../../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { unended } from '../lab/ended.ts';
import type { Supervised } from '../lab/supervised.ts';
import type { Wanted } from '../lab/wanted.ts';
import { bench } from './bench.ts';

const SHARERS = [
  { client: 'signer', kind: 'csr' },
  { client: 'pcr-issuer', kind: 'pcr' },
] as const;
const REQUESTS = 20;
const PATIENCE_MS = 60_000;

for (const { client, kind } of SHARERS) {
  test(`two replicas of ${client} both answer, each request is signed and answered once`, async () => {
    await beside(client, `${client}-sharing`, async (other) => {
      const wanted = await bench.requests(REQUESTS, [kind]);
      await bench.allDelivered(wanted);
      const share = signaturesOf(other, wanted);
      assert.ok(share > 0 && share < REQUESTS, `${share} of ${REQUESTS}`);
    });
  });

  test(`a ${client} paused past its Lease during a write stores no late write`, async () => {
    await beside(client, `${client}-other`, async (other) => {
      bench.proxy.script.set(`${client} PUT */status nth 2 hold`);
      const wanted = await bench.requests(REQUESTS, [kind]);
      const held = await bench.proxy.held();
      const { process } = bench.component(client);
      process.signal('SIGSTOP');
      try {
        await until('the other has done all', PATIENCE_MS, async () => {
          return (await unended(bench.admin, wanted)).length === 0;
        });
      } finally {
        held.release();
        process.signal('SIGCONT');
      }
      assert.ok(!hasRescued(other), 'when the Lease had run out, not when they were overdue');
      const after = await bench.requests(5, [kind]);
      // What it had signed and not written when it was stopped is in vain.
      await bench.allDelivered([...wanted, ...after], { wasted: REQUESTS });
    });
  });
}

test('an attester is paused past its Lease during a write: the bundle never goes back', async () => {
  await beside('attester', 'attester-other', async (other) => {
    await label('before');
    await bundleSays('before');
    const leader = await leading(['attester', 'attester-other']);
    bench.proxy.script.set(`${leader} PUT */clustertrustbundles/* nth 1 hold`);
    await label('while-it-leads');
    const held = await bench.proxy.held();
    bench.component(leader).process.signal('SIGSTOP');
    try {
      await bundleSays('while-it-leads');
      await label('while-it-stands-still');
      await bundleSays('while-it-stands-still');
    } finally {
      held.release();
      bench.component(leader).process.signal('SIGCONT');
    }
    await until('its late write is answered', PATIENCE_MS, () => statusOfLast(leader) === 409);
    // The new leader continues from there.
    await label('after');
    await bundleSays('after');
    assert.ok(other.starts === 1, 'no process had to be restarted');
  });
});

/** Runs `work` beside a second replica, which is stopped at the end. */
async function beside(
  name: ComponentName,
  client: string,
  work: (other: Supervised) => Promise<void>,
): Promise<void> {
  const other = await bench.start(name, client);
  try {
    await other.ready();
    if (name !== 'attester') await until('both share', PATIENCE_MS, () => agree([name, client]));
    await work(other);
  } finally {
    bench.proxy.script.set('');
    await other.stop();
    if (name !== 'attester') {
      await until('one has all', PATIENCE_MS, async () => {
        return (await gauge(name, 'countersign_shard_members')) === 1;
      });
    }
  }
}

async function agree(clients: readonly string[]): Promise<boolean> {
  const seen = await Promise.all(clients.map((each) => gauge(each, 'countersign_shard_members')));
  return seen.every((each) => each === clients.length);
}

async function gauge(client: string, name: string): Promise<number> {
  const text = await bench.component(client).process.metrics();
  const line = text.split('\n').find((each) => each.startsWith(`${name}{`));
  return Number(line?.split(' ').at(-1));
}

function leading(clients: readonly string[]): Promise<string> {
  return until('one of them leads', PATIENCE_MS, async () => {
    for (const each of clients) if ((await gauge(each, 'countersign_leader')) === 1) return each;
    return undefined;
  });
}

function signaturesOf(component: Supervised, wanted: readonly Wanted[]): number {
  const uids = new Set(wanted.map(({ uid }) => uid));
  return component.log().filter(({ msg, uid }) => msg === 'signed' && uids.has(String(uid))).length;
}

/**
 * Whether it took up another's requests because of their age: what it does where Leases tell
 * nothing.
 */
function hasRescued(component: Supervised): boolean {
  return component.log().some(({ msg }) => String(msg).includes('are overdue'));
}

/** Makes the bundle of the signer another one. */
async function label(stage: string): Promise<void> {
  const patch = { spec: { trustBundle: { labels: { stage } } } };
  await bench.cluster.kubectl([
    'patch',
    'clustersigner/workload',
    '--type=merge',
    '-n',
    SYSTEM_NAMESPACE,
    '-p',
    JSON.stringify(patch),
  ]);
}

async function bundleSays(stage: string): Promise<void> {
  const path = '/apis/certificates.k8s.io/v1/clustertrustbundles/example.com:workload:primary';
  await until(`the bundle says ${stage}`, PATIENCE_MS, async () => {
    const { metadata } = await bench.admin.request<{
      metadata: { labels?: Record<string, string> };
    }>({ method: 'GET', path });
    return metadata.labels?.['stage'] === stage;
  });
}

function statusOfLast(client: string): number | undefined {
  const writes = bench.proxy.traffic.find(
    (each) =>
      each.client === client &&
      each.method === 'PUT' &&
      each.path.includes('clustertrustbundles') &&
      each.fault === 'hold',
  );
  return writes.at(-1)?.status;
}
