// SPDX-License-Identifier: Apache-2.0
/** Requests that go, and come again under their names, while they are worked on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../cluster/until.ts';
import { listRequests } from '../lab/ended.ts';
import { csr } from '../lab/load.ts';
import { NAMESPACE, RESOURCES, pathOf, type Kind, type Wanted } from '../lab/wanted.ts';
import { bench } from './bench.ts';

const WRITERS = [
  { client: 'signer', kind: 'csr' },
  { client: 'pcr-issuer', kind: 'pcr' },
] as const;
const PATIENCE_MS = 30_000;

let made = 0;
const newName = (kind: Kind): string => `object-${(made += 1)}-${kind}`;

for (const { client, kind } of WRITERS) {
  test(`deleting a request during the write of ${client} leaves nothing of it`, async () => {
    bench.proxy.script.set(`${client} PUT */status nth 1 hold`);
    const gone = await bench.load.create(kind, newName(kind));
    const held = await bench.proxy.held();
    await remove(gone);
    held.release();
    await bench.allDelivered(await bench.requests(3, [kind]));
    assert.equal((await listRequests(bench.admin)).has(gone.uid), false);
    assertQuiet(client);
  });

  test(`only the new request is answered when recreated during the write of ${client}`, async () => {
    bench.proxy.script.set(`${client} PUT */status nth 1 hold`);
    const name = newName(kind);
    const first = await bench.load.create(kind, name);
    const held = await bench.proxy.held();
    await remove(first);
    const second = await bench.load.create(kind, name);
    assert.notEqual(second.uid, first.uid);
    held.release();
    await bench.allDelivered([second]);
    assertQuiet(client);
  });

  test(`a request recreated without ${client} seeing the deletion is answered`, async () => {
    bench.proxy.script.set(
      `${client} DELETED ${RESOURCES[kind].collection().split('/').at(-1) ?? ''} drop\n${client} PUT */status answer 503`,
    );
    const name = newName(kind);
    const first = await bench.load.create(kind, name);
    const tried = (): boolean =>
      bench.proxy.traffic.find(
        (each) => each.client === client && each.path === `${pathOf(first)}/status`,
      ).length > 0;
    await until('it is tried', PATIENCE_MS, tried);
    await remove(first);
    const second = await bench.load.create(kind, name);
    bench.proxy.script.set('');
    await bench.allDelivered([second]);
    assertQuiet(client);
  });
}

test('a request recreated within its rule is answered without a deletion event', async () => {
  const ofBoth = ['approver', 'signer'] as const;
  bench.proxy.script.set(
    ofBoth.map((client) => `${client} DELETED certificatesigningrequests drop`).join('\n'),
  );
  const name = newName('csr');
  await createUndecided(name);
  await until('it is left to people', PATIENCE_MS, () =>
    bench
      .component('approver')
      .process.log.some((line) => line['name'] === name && line['outcome'] === 'undecided'),
  );
  await remove({ kind: 'csr', name, uid: '' });
  const second = await bench.load.create('csr', name);
  await bench.allDelivered([second]);
  for (const client of ofBoth) assertQuiet(client);
});

/** By an administrator, for a name that is not its own: jane's rule says nothing of it. */
async function createUndecided(name: string): Promise<void> {
  await bench.admin.request({
    method: 'POST',
    path: RESOURCES.csr.collection(),
    body: await csr(name),
  });
}

test('deleting a namespace during a write leaves nothing and affects no other request', async () => {
  const namespace = 'team-gone';
  await bench.cluster.kubectl(['create', 'namespace', namespace]);
  bench.proxy.script.set('pcr-issuer PUT */status nth 1 hold');
  const like = await bench.load.create('pcr', newName('pcr'));
  const held = await bench.proxy.held();
  held.release();
  bench.proxy.script.set('pcr-issuer PUT */status nth 1 hold');
  await inNamespace(namespace, like);
  const late = await bench.proxy.held();
  await bench.cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  await until('its requests are gone', PATIENCE_MS, async () => {
    const path = RESOURCES.pcr.collection(namespace);
    const { items } = await bench.admin.request<{ items: readonly unknown[] }>({
      method: 'GET',
      path,
    });
    return items.length === 0;
  });
  late.release();
  await bench.allDelivered([like, ...(await bench.requests(3, ['pcr']))]);
  assertQuiet('pcr-issuer');
});

/** A request like that one, in another namespace. */
async function inNamespace(namespace: string, like: Wanted): Promise<void> {
  const found = await bench.admin.request<{ spec: object }>({ method: 'GET', path: pathOf(like) });
  const { name } = like;
  assert.ok(pathOf(like).includes(NAMESPACE));
  await bench.admin.request({
    method: 'POST',
    path: RESOURCES.pcr.collection(namespace),
    body: {
      apiVersion: RESOURCES.pcr.apiVersion,
      kind: 'PodCertificateRequest',
      metadata: { namespace, name },
      spec: found.spec,
    },
  });
}

async function remove(wanted: Wanted): Promise<void> {
  await bench.admin.request({ method: 'DELETE', path: pathOf(wanted) });
}

/** What is gone is no trouble: no error, and nothing that was not foreseen. */
function assertQuiet(client: string): void {
  const errors = bench.component(client).process.log.filter(({ level }) => level === 'error');
  assert.deepEqual(errors, []);
}
