// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { listObjects, listReadable } from '#kube/watch/list-objects.ts';

/** A client whose pages are these, one name each. */
function clientOf(answer: (request: RequestInit) => unknown): Client {
  return { request: (request: RequestInit) => Promise.resolve(answer(request)) } as never;
}

const page = (name: string, next?: string): object => ({
  apiVersion: 'v1',
  kind: 'PodList',
  metadata: { resourceVersion: '1', continue: next },
  items: [{ metadata: { name } }],
});

test('every page is read, and only the selected objects are kept', async () => {
  const requests: RequestInit[] = [];
  const client = clientOf((request) => {
    requests.push(request);
    return requests.length === 1 ? page('a', 'more') : page('b');
  });
  const found = await listObjects<StoredObject>(client, PODS, {
    namespace: 'team',
    labelSelector: 'x=y',
    keep: ({ metadata }) => metadata.name === 'b',
  });
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['b'],
  );
  assert.deepEqual(
    requests.map(({ path }) => path),
    Array(2).fill('/api/v1/namespaces/team/pods'),
  );
  assert.deepEqual(
    requests.map(({ query }) => query?.['labelSelector']),
    ['x=y', 'x=y'],
  );
});

for (const [status, isReadable] of [
  [403, false],
  [404, false],
  [500, true],
] as const) {
  test(`a list that ends with ${status} ${isReadable ? 'fails' : 'is empty'}`, async () => {
    const client = clientOf(() => {
      throw new KubeError({ status, what: 'GET /api/v1/pods' });
    });
    const list = listReadable(client, PODS);
    if (isReadable) await assert.rejects(list, { status });
    else assert.deepEqual(await list, []);
    await assert.rejects(listObjects(client, PODS), { status });
  });
}
