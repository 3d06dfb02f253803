// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { missingPermissions, permissionText } from '#kube/client/access-review.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import { createEventRecorder } from '#kube/events/recorder.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { decodeLines } from '#kube/watch/line-decoder.ts';
import { readWatchEvent } from '#kube/watch/watch-event.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import {
  PATIENCE_MS,
  configMaps,
  delay,
  random,
  type ConfigMaps,
} from '../support/cluster/config-maps.ts';
import { recordedLog } from '../support/component/recorded-log.ts';
import { failure } from '../support/kube/server-and-clients.ts';

// A cluster of its own: its API server is killed here.
let cluster: Cluster;
let admin: Client;
const opened: Client[] = [];
const stop = new AbortController();

before(async () => {
  cluster = await startCluster({ nodes: 0 });
  admin = await connect(cluster.kubeconfig);
});
after(async () => {
  stop.abort();
  await Promise.all(opened.map((client) => client.close()));
  await cluster.stop();
});

async function connect(kubeconfig: string): Promise<Client> {
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const client = createClient({
    connection,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'countersign-test/1',
  });
  opened.push(client);
  return client;
}

/** A namespace of the test's own. */
async function inNamespace(name: string): Promise<ConfigMaps> {
  await cluster.kubectl(['create', 'namespace', name]);
  return configMaps(admin, name);
}

test('a reflector follows the real API server: create, update, delete and recreate', async () => {
  const where = await inNamespace('mirror');
  const first = await where.create('a', { n: '1' });
  const watched = await where.watch(stop.signal);
  assert.deepEqual(watched.reflector.get('mirror/a')?.data, { n: '1' });
  assert.equal(watched.reflector.get('mirror/a')?.kind, 'ConfigMap', 'streamed lists have kinds');
  await where.update({ ...first, data: { n: '2' } });
  await watched.tells('~a');
  await where.remove(first);
  await watched.tells('-a');
  await where.create('a');
  await watched.tells('+a', 2);
  assert.deepEqual(watched.told.slice(-2), ['-a', '+a']);
  assert.deepEqual(watched.restarts, []);
});

test('a selector filters at the API server: other objects never arrive', async () => {
  const where = await inNamespace('filter');
  await where.create('others');
  const watched = await where.watch(stop.signal, 'metadata.name=ours');
  await where.create('ours');
  await watched.tells('+ours');
  assert.ok(!watched.told.includes('+others'));
});

test('a write’s metadata-only response is stored at once and causes no second event', async () => {
  const where = await inNamespace('observe');
  const first = await where.create('a', { n: '1' });
  const watched = await where.watch(stop.signal);
  const sent = { ...first, data: { n: '2' } };
  const answer = await where.update(sent, {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  });
  assert.equal(answer.kind, 'PartialObjectMetadata');
  assert.equal(answer.data, undefined);
  watched.reflector.applyWrite({ ...sent, metadata: answer.metadata });
  assert.deepEqual(watched.reflector.get('observe/a')?.data, { n: '2' });
  await where.create('later');
  await watched.tells('+later');
  assert.deepEqual(watched.told, ['+a', '~a', '+later']);
});

test('errors of the API server arrive with status and reason: 404, 409, 422, 403', async () => {
  const where = await inNamespace('errors');
  const first = await where.create('a');
  const missing = admin.request({
    method: 'GET',
    path: CONFIG_MAPS.object({ namespace: 'errors', name: 'no' }),
  });
  assert.deepEqual(
    [(await failure(missing)).code, (await failure(missing)).reason],
    ['KUBE_NOT_FOUND', 'NotFound'],
  );
  assert.equal((await failure(where.create('a'))).code, 'KUBE_ALREADY_EXISTS');
  await where.update({ ...first, data: { n: '1' } });
  const stale = await failure(where.update({ ...first, data: { n: '2' } }));
  assert.deepEqual(
    [stale.code, stale.disposition, stale.mayHaveLanded],
    ['KUBE_CONFLICT', 'retry', false],
  );
  assert.match(stale.message, /the object has been modified/);
  const invalid = await failure(where.create('Not_A_Name'));
  assert.deepEqual([invalid.code, invalid.causes[0]?.field], ['KUBE_INVALID', 'metadata.name']);
});

test('a ServiceAccount has its role’s permissions, and a missing one is named', async () => {
  const where = 'rights';
  await cluster.kubectl(['create', 'namespace', where]);
  await cluster.kubectl(['create', 'serviceaccount', 'reader', '-n', where]);
  await cluster.kubectl([
    'create',
    'role',
    'reader',
    '-n',
    where,
    '--verb=get,list',
    '--resource=secrets',
    '--resource-name=ca',
  ]);
  await cluster.kubectl([
    'create',
    'rolebinding',
    'reader',
    '-n',
    where,
    '--role=reader',
    `--serviceaccount=${where}:reader`,
  ]);
  const client = await connect(await cluster.serviceAccountKubeconfig(where, 'reader'));
  const missing = await missingPermissions(client, [
    {
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['get', 'list', 'watch'],
      resourceNames: ['ca'],
      namespace: where,
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      verbs: ['sign'],
      resourceNames: ['example.com/x'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/status'],
      verbs: ['update'],
    },
  ]);
  assert.deepEqual(missing.map(permissionText), [
    'watch secrets "ca" in namespace rights',
    'sign certificates.k8s.io/signers "example.com/x"',
    'update certificates.k8s.io/certificatesigningrequests/status',
  ]);
  const forbidden = await failure(
    client.request({ method: 'GET', path: `/api/v1/namespaces/${where}/secrets` }),
  );
  assert.deepEqual([forbidden.code, forbidden.disposition], ['KUBE_FORBIDDEN', 'wait']);
  assert.match(forbidden.message, /system:serviceaccount:rights:reader/);
});

test('discovery finds the versions of a resource that this API server serves', async () => {
  const versions = ['v1', 'v1beta1'] as const;
  const group = 'certificates.k8s.io';
  const csrs = { group, plural: 'certificatesigningrequests' };
  assert.deepEqual(await servedVersions(admin, csrs, versions), ['v1']);
  const pcrs = { group, plural: 'podcertificaterequests' };
  assert.equal((await servedVersions(admin, pcrs, versions))[0], 'v1');
  assert.deepEqual(
    await servedVersions(admin, { group: 'no.example.com', plural: 'x' }, versions),
    [],
  );
});

test('the clock offset to an API server on the same machine is about zero', () => {
  assert.ok(Math.abs(admin.clockOffset()) < 2_000, String(admin.clockOffset()));
});

test('a watch from a compacted resourceVersion gets 410 and relists', async () => {
  // The watch cache knows nothing older than its own start.
  const abort = AbortSignal.timeout(PATIENCE_MS);
  const read = async (): Promise<void> => {
    const query = { watch: true, resourceVersion: '1' };
    const path = CONFIG_MAPS.collection();
    const chunks = await admin.stream({ method: 'GET', path, query, signal: abort });
    for await (const line of decodeLines(chunks)) readWatchEvent(line);
  };
  await cluster.apiServer.restart();
  await until('410', PATIENCE_MS, async () => (await failure(read())).status === 410);
});

interface SeriesEvent {
  readonly note: string;
  readonly series?: { readonly count: number };
  readonly regarding: { readonly kind: string };
}

test('Events are written, counted up in series, and survive an API server outage', async () => {
  const events = createEventRecorder({
    client: admin,
    controller: 'countersign.dev/test',
    instance: 'test-0',
    clock: Date.now,
    delay,
    random,
    log: recordedLog(),
    onDropped: () => undefined,
  });
  const say = (note: string): void => {
    const regarding = { apiVersion: 'v1', kind: 'Namespace', name: 'kube-system', uid: 'u' };
    events.record({ regarding, type: 'Warning', reason: 'Tested', action: 'Test', note });
  };
  const told = async (note: string): Promise<SeriesEvent | undefined> => {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    const list = await admin.request<{ items: SeriesEvent[] }>({ method: 'GET', path });
    return list.items.find((each) => each.note === note);
  };
  say('first');
  await until('the Event', PATIENCE_MS, () => told('first'));
  say('first');
  await until('its count', PATIENCE_MS, async () => (await told('first'))?.series?.count === 2);
  await cluster.apiServer.kill();
  say('while it was away');
  await sleep(300);
  await cluster.apiServer.start();
  await until('the late Event', PATIENCE_MS, () => told('while it was away'));
});

test('a reflector loses no event and repeats none when the API server is killed', async () => {
  const where = await inNamespace('killed');
  const before = await where.create('before');
  const watched = await where.watch(stop.signal);
  await cluster.apiServer.kill();
  const lost = await failure(where.create('lost'));
  assert.deepEqual([lost.status, lost.mayHaveLanded], [0, true]);
  await cluster.apiServer.start();
  // Written before the watch is there again.
  await where.remove(before);
  await where.create('during');
  await watched.tells('+during');
  await watched.tells('-before');
  await where.create('then');
  await watched.tells('+then');
  assert.deepEqual(watched.told.toSorted(), ['+before', '+during', '+then', '-before']);
  assert.equal(watched.reflector.failure, undefined);
  assert.ok(watched.restarts.length > 0);
});
