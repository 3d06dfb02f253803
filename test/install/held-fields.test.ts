// SPDX-License-Identifier: Apache-2.0
/**
 * Fields that a taken-over component may not write, by the printed policies; on the real API
 * server: held-writes.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CERTIFICATES, RESTARTED_AT } from '#workloads/refresh/record.ts';
import { LISTED, ROUTES } from '../integration/held-writes/routes.ts';
import { rejectionsOf } from '../support/install/evaluated-policy.ts';

type Fields = Readonly<Record<string, unknown>>;

/** RFC 7396. */
function merge(object: Fields, patch: Fields): Fields {
  const merged = Object.entries(patch).map(([key, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [key, isObject ? merge((object[key] ?? {}) as Fields, value as Fields) : value];
  });
  return { ...object, ...(Object.fromEntries(merged) as Fields) };
}

const WORKLOAD = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'team-a',
    annotations: { 'countersign.dev/refresh': 'restart' },
  },
  spec: {
    replicas: 2,
    template: {
      metadata: { labels: { app: 'web' }, annotations: { note: 'kept' } },
      spec: { containers: [{ name: 'main', image: 'example.com/web' }] },
    },
  },
};

const ofPods = (metadata: Fields): Fields => ({ spec: { template: { metadata } } });

function restartRejections(patch: Fields): readonly number[] {
  return rejectionsOf('countersign-refreshed-workloads', {
    object: merge(WORKLOAD, patch),
    oldObject: WORKLOAD,
    request: { userInfo: { username: 'x' }, namespace: 'team-a', kind: { kind: 'Deployment' } },
    namespaceObject: { metadata: { labels: { 'countersign.dev/refresh': 'enabled' } } },
  });
}

test('pod-refresher may write its annotation of pods and its label of a workload', () => {
  const own = {
    ...ofPods({ annotations: { [CERTIFICATES]: 'x' } }),
    metadata: { labels: { [RESTARTED_AT]: '1' } },
  };
  assert.deepEqual(restartRejections(own), []);
});

const REFUSED: Readonly<Record<string, Fields>> = {
  'a finalizer of pods': ofPods({ finalizers: ['example.com/stay'] }),
  'an owner of pods': ofPods({ ownerReferences: [{ kind: 'ConfigMap', name: 'gone' }] }),
  'a name of pods': ofPods({ name: 'x' }),
  'a label of pods': ofPods({ labels: { app: 'other' } }),
  'a field of pods that a later version adds': ofPods({ later: 'x' }),
  'another annotation of pods': ofPods({ annotations: { other: 'x' } }),
  'a finalizer of the workload': { metadata: { finalizers: ['example.com/stay'] } },
  'an owner of the workload': { metadata: { ownerReferences: [{ name: 'gone' }] } },
  'a field of the metadata that a later version adds': { metadata: { later: 'x' } },
  replicas: { spec: { replicas: 0 } },
  'a field of the spec that a later version adds': { spec: { later: true } },
  'a field of the object that a later version adds': { later: true },
  'another image': { spec: { template: { spec: { containers: [] } } } },
};
for (const [what, patch] of Object.entries(REFUSED))
  test(`pod-refresher may not write ${what}`, () => {
    assert.notDeepEqual(restartRejections(patch), []);
  });

for (const { collection, how, object, allowed = {}, refused = {} } of ROUTES) {
  const name = collection.endsWith('/ingresses')
    ? 'countersign-acme-ingresses'
    : 'countersign-acme-http-routes';
  const rejections = (patch: Fields, change: Fields = {}): readonly number[] =>
    rejectionsOf(
      name,
      {
        object: merge(merge(object, change), patch),
        oldObject: how === 'patch' ? merge(object, change) : undefined,
        request: {
          namespace: 'countersign-system',
          name: 'x',
          userInfo: { username: 'x' },
        },
      },
      { routeMetadata: LISTED },
    );
  test(`acme-solver may ${how} what it makes of ${name}, with what is listed`, () => {
    assert.deepEqual(rejections({}), []);
    assert.deepEqual(rejections(allowed), []);
  });
  for (const [what, patch] of Object.entries(refused))
    test(`acme-solver may not ${how} ${what} of ${name}`, () => {
      assert.notDeepEqual(rejections(patch), []);
    });
  test(`acme-solver may not ${how} a route of others of ${name}`, () => {
    assert.notDeepEqual(rejections({}, { metadata: { name: 'theirs' } }), []);
  });
}
