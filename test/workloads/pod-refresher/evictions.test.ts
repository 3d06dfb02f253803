// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Evictions } from '#workloads/pod-refresher/evictions.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';

const NOW = Date.UTC(2026, 5, 1);
const MINUTE = 60_000;
const ENDANGERED = {
  namespace: 'team-a',
  name: 'web-1',
  uid: 'u1',
  signerName: 'example.com/workload',
  notAfter: NOW + 30 * MINUTE,
  message: 'not allowed',
};

function podOf(more: {
  readonly lead?: string;
  readonly uid?: string;
  readonly bare?: boolean;
}): object {
  const owner = { kind: 'ReplicaSet', name: 'web', controller: true };
  return {
    metadata: {
      namespace: 'team-a',
      name: 'web-1',
      uid: more.uid ?? 'u1',
      annotations:
        more.lead === undefined ? {} : { 'countersign.dev/evict-before-expiry': more.lead },
      ownerReferences: more.bare === true ? [] : [owner],
    },
    spec: {},
    status: { phase: 'Running' },
  };
}

function componentWith(pod: object, evicted: () => unknown = () => ({})): RecordedComponent {
  const component = recordedComponent();
  component.client.answer(({ method }: RequestInit) => (method === 'GET' ? pod : evicted()));
  return component;
}

const evictionsOf = ({ client }: RecordedComponent): number =>
  client.requests.filter(({ method }) => method === 'POST').length;

test('evicts a pod by UID as long before its last credential ends as it requests', async () => {
  const component = componentWith(podOf({ lead: '10m' }));
  const evictions = new Evictions(component);
  assert.equal(await evictions.pass([ENDANGERED], NOW), NOW + 20 * MINUTE);
  assert.equal(evictionsOf(component), 0);
  assert.equal(await evictions.pass([ENDANGERED], NOW + 20 * MINUTE), Infinity);
  const [request] = component.client.requests.filter(({ method }) => method === 'POST');
  assert.equal(request?.path, '/api/v1/namespaces/team-a/pods/web-1/eviction');
  const { deleteOptions } = request.body as { deleteOptions: unknown };
  assert.deepEqual(deleteOptions, { preconditions: { uid: 'u1' } });
  assert.equal(component.notes[0]?.reason, 'CredentialExpiring');
  await evictions.pass([ENDANGERED], NOW + 25 * MINUTE);
  assert.equal(evictionsOf(component), 1, 'once');
});

for (const [whose, pod] of [
  ['that does not ask for it', podOf({})],
  ['whose annotation nobody can read', podOf({ lead: 'soon' })],
  ['that no controller replaces', podOf({ lead: '1h', bare: true })],
  ['that is another by now', podOf({ lead: '1h', uid: 'u2' })],
] as const) {
  test(`a pod ${whose} is not evicted`, async () => {
    const component = componentWith(pod);
    assert.equal(await new Evictions(component).pass([ENDANGERED], NOW), Infinity);
    assert.equal(evictionsOf(component), 0);
  });
}

test('a budget that is in the way is asked again', async () => {
  let isOpen = false;
  const component = componentWith(podOf({ lead: '1h' }), () => {
    if (isOpen) return {};
    const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'budget' };
    throw new KubeError({ method: 'POST', path: '/eviction', status: 429, body: status } as never);
  });
  const evictions = new Evictions(component);
  const again = await evictions.pass([ENDANGERED], NOW);
  assert.equal(again, NOW + 15_000);
  await evictions.pass([ENDANGERED], NOW + 1_000);
  assert.equal(evictionsOf(component), 1, 'not before');
  isOpen = true;
  assert.equal(await evictions.pass([ENDANGERED], again), Infinity);
  assert.equal(evictionsOf(component), 2);
});

test('the first credential to end counts, and the pod is evicted once', async () => {
  const component = componentWith(podOf({ lead: '10m' }));
  const evictions = new Evictions(component);
  const sooner = { ...ENDANGERED, signerName: 'example.com/other', notAfter: NOW + 15 * MINUTE };
  assert.equal(await evictions.pass([ENDANGERED, sooner], NOW), NOW + 5 * MINUTE);
  await evictions.pass([ENDANGERED, sooner], NOW + 5 * MINUTE);
  await evictions.pass([ENDANGERED, sooner], NOW + 25 * MINUTE);
  assert.equal(evictionsOf(component), 1);
});

test('a pod of another namespace with the same UID is another pod', async () => {
  const component = componentWith(podOf({ lead: '10m' }));
  component.client.answer(({ method, path }) => {
    if (method !== 'GET') return {};
    if (path.includes('/team-a/')) return podOf({ lead: '10m' });
    throw new KubeError({ status: 404, what: 'GET' });
  });
  const evictions = new Evictions(component);
  const forged = { ...ENDANGERED, namespace: 'team-b' };
  assert.equal(await evictions.pass([forged, ENDANGERED], NOW), NOW + 20 * MINUTE);
});
