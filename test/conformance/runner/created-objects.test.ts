// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { treatAs } from '#conformance/runner/requests.ts';
import type { Recorder } from '#conformance/runner/recorder.ts';
import type { Run } from '#conformance/runner/run.ts';
import type { KubeObject } from '#api/object/object.ts';
import { RUN_LABEL, trackCreatedObjects } from '#conformance/runner/created-objects.ts';

const requests = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'podcertificaterequests',
});
const namespace = 'team-a';

/** A client that writes down what it is asked, and answers as `answer` does. */
function clientOf(answer: (init: RequestInit) => unknown): { client: Client; calls: string[] } {
  const calls: string[] = [];
  const client = {
    request: (init: RequestInit) => {
      calls.push(`${init.method} ${init.path}`);
      return Promise.resolve().then(() => answer(init));
    },
  };
  return { client: client as unknown as Client, calls };
}

function refuse(status: number): never {
  throw new KubeError({ status, what: 'DELETE', body: { message: 'no' } });
}

test('every created object has the label of the run', async () => {
  const { client } = clientOf(({ body }) => body);
  const own = trackCreatedObjects(client, 'abc');
  const metadata = { name: 'web', namespace, labels: { app: 'web' } };
  const made = await own.create<{ metadata: { labels: object } }>(PODS, { kind: 'Pod', metadata });
  assert.deepEqual(made.metadata.labels, { app: 'web', [RUN_LABEL]: 'abc' });
});

test('deleteAll deletes pods first, because a kubelet recreates a missing request', async () => {
  const { client, calls } = clientOf(() => ({}));
  const own = trackCreatedObjects(client, 'abc');
  own.track(requests, { name: 'req', namespace });
  await own.create(PODS, { kind: 'Pod', metadata: { name: 'web', namespace } });
  assert.deepEqual(await own.deleteAll(), { removed: 2, left: [] });
  assert.deepEqual(calls.slice(1), [
    'DELETE /api/v1/namespaces/team-a/pods/web',
    'DELETE /apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/req',
  ]);
});

test('deleteAll uses the client that an interruption does not end', async () => {
  const { client } = clientOf(({ method }) => (method === 'POST' ? {} : refuse(429)));
  const deleting = clientOf(() => ({}));
  const own = trackCreatedObjects(client, 'abc', deleting.client);
  await own.create(PODS, { kind: 'Pod', metadata: { name: 'web', namespace } });
  assert.deepEqual(await own.deleteAll(), { removed: 1, left: [] });
  assert.deepEqual(deleting.calls, ['DELETE /api/v1/namespaces/team-a/pods/web']);
});

test('deleteAll deletes an object whose creation got no response', async () => {
  const { client, calls } = clientOf(({ method }) =>
    method === 'POST' ? Promise.reject(new Error('the connection broke')) : {},
  );
  const own = trackCreatedObjects(client, 'abc');
  await assert.rejects(own.create(PODS, { kind: 'Pod', metadata: { name: 'web', namespace } }));
  await own.deleteAll();
  assert.equal(calls.at(-1), 'DELETE /api/v1/namespaces/team-a/pods/web');
});

test('deleteAll counts missing objects as deleted, and names those it may not delete', async () => {
  const { client } = clientOf(({ method, path }) => {
    if (method !== 'DELETE') return {};
    return path.endsWith('/gone') ? refuse(404) : path.endsWith('/kept') ? refuse(403) : {};
  });
  const own = trackCreatedObjects(client, 'abc');
  for (const name of ['gone', 'kept', 'web']) {
    await own.create(PODS, { kind: 'Pod', metadata: { name, namespace } });
  }
  const { removed, left } = await own.deleteAll();
  assert.equal(removed, 2);
  assert.match(left.join(), /pods\/kept: .*403/);
});

test('deleteAll waits for creations in flight and deletes their objects', async () => {
  const stored = Promise.withResolvers<object>();
  const { client, calls } = clientOf(({ method }) => (method === 'POST' ? stored.promise : {}));
  const own = trackCreatedObjects(client, 'abc');
  const making = own.create(PODS, { kind: 'Pod', metadata: { name: 'web', namespace } });
  const cleaning = own.deleteAll();
  await Promise.resolve();
  assert.deepEqual(calls, ['POST /api/v1/namespaces/team-a/pods']);
  stored.resolve({});
  await Promise.all([making, cleaning]);
  assert.equal(calls.at(-1), 'DELETE /api/v1/namespaces/team-a/pods/web');
  const late = own.create(PODS, { kind: 'Pod', metadata: { name: 'late', namespace } });
  await assert.rejects(late, /the run is over/);
});

test('an object of another that has the name of the run’s is never deleted', async () => {
  const deletions: unknown[] = [];
  const { client } = clientOf(({ method, path, body }) => {
    if (method === 'POST' && JSON.stringify(body).includes('taken')) refuse(409);
    if (method === 'DELETE') deletions.push([path, body]);
    return method === 'POST' ? { metadata: { uid: 'ours' } } : {};
  });
  const own = trackCreatedObjects(client, 'abc');
  await own.create(PODS, { kind: 'Pod', metadata: { name: 'web', namespace } });
  await assert.rejects(own.create(PODS, { kind: 'Pod', metadata: { name: 'taken', namespace } }));
  own.track(requests, { name: 'req', namespace, uid: 'kubelet' });
  await own.deleteAll();
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
  assert.deepEqual(deletions, [
    [
      '/api/v1/namespaces/team-a/pods/web',
      { ...options, preconditions: { uid: 'ours' }, gracePeriodSeconds: 0 },
    ],
    [
      '/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/req',
      { ...options, preconditions: { uid: 'kubelet' } },
    ],
  ]);
});

test('the run approves its own request only, and none that took its name meanwhile', async () => {
  const metadata = { name: 'csr', namespace, uid: 'ours', resourceVersion: '1' };
  const ours = { apiVersion: 'v1', kind: 'CertificateSigningRequest', metadata } as KubeObject;
  const strange = { ...ours, metadata: { ...metadata, uid: 'strange', resourceVersion: '2' } };
  const { client } = clientOf(() => strange);
  const approved: string[] = [];
  const writes = await treatAs<KubeObject>('approve', ours, {
    run: { client, permissions: { missing: () => Promise.resolve(undefined) } } as unknown as Run,
    recorder: { add: () => undefined } as unknown as Recorder<KubeObject>,
    resource: requests,
    permissions: [],
    isDecided: () => false,
    retried: [409],
    write: (now) => {
      if (now.metadata.uid === 'ours') refuse(409);
      approved.push(now.metadata.uid);
      return Promise.resolve(now);
    },
  });
  assert.deepEqual([approved, writes], [[], 0]);
});
