// SPDX-License-Identifier: Apache-2.0
/** A restart evicts the pods of the plan that the person saw, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planAction } from '#console/acting/plan-action.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { HOUR, NOW, at, print, state } from '../operations/signer-states.ts';

const CONFIRM = { message: '', progress: () => undefined, signal: new AbortController().signal };
const CHOICE = { verb: 'restart', signer: 'workload', ca: print('a') } as const;
const STATE = state({ authorities: { b: 'Active', a: 'Retiring' }, served: { a: 60, b: 60 } });
const SOURCE = { podCertificate: { signerName: STATE.signer.spec.signerName } };

/** A pod of a controller, which may hold a leaf of the CA. */
function pod(uid: string, owner = 'web'): object {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name: uid,
      uid,
      resourceVersion: '1',
      ownerReferences,
      creationTimestamp: at(-100 * HOUR),
    },
    spec: { nodeName: 'n', volumes: [{ projected: { sources: [SOURCE] } }] },
    status: { phase: 'Running' },
  };
}

const listOf = (items: readonly object[]): object => ({
  kind: 'List',
  apiVersion: 'v1',
  metadata: { resourceVersion: '1' },
  items,
});

function stand(first: readonly object[]) {
  const client = recordedClient();
  let pods = first;
  client.answer(({ method, path }) => {
    if (method !== 'GET') return {};
    if (path.includes('/clustersigners/')) return STATE.signer;
    if (path.includes('/clustertrustbundles/')) return STATE.bundle;
    if (path.endsWith('/pods')) return listOf(pods);
    if (path.endsWith('/podcertificaterequests')) return listOf([]);
    if (path === '/apis/certificates.k8s.io/v1') {
      const names = ['podcertificaterequests', 'clustertrustbundles'];
      return { resources: names.map((name) => ({ name })) };
    }
    throw new KubeError({ status: 404, what: path });
  });
  return {
    init: { client, clock: () => NOW, delay: () => Promise.resolve(), propagationSeconds: 600 },
    become: (other: readonly object[]) => (pods = other),
    evicted: (): readonly RequestInit[] =>
      client.requests.filter(
        ({ method, path, query }) =>
          method === 'POST' && path.endsWith('/eviction') && query?.['dryRun'] !== 'All',
      ),
  };
}

const SEEN = [pod('web-1'), pod('web-2')];

test('the pods of the plan are evicted, in whatever order the API server lists them', async () => {
  const it = stand(SEEN);
  const planned = (await planAction(it.init, CHOICE)) ?? assert.fail('no plan');
  assert.equal(planned.plan.isReady, true, planned.plan.lines.join('\n'));
  it.become([...SEEN].reverse());
  assert.equal((await planned.run(CONFIRM)).outcome, 'done');
  assert.equal(it.evicted().length, 2);
});

const CHANGES: readonly [what: string, pods: readonly object[]][] = [
  ['a pod is gone', SEEN.slice(1)],
  ['another pod may hold a leaf', [...SEEN, pod('web-3')]],
  ['a pod was replaced', [pod('web-1'), pod('web-4')]],
  ['another controller owns a pod', [pod('web-1'), pod('web-2', 'db')]],
];
for (const [what, pods] of CHANGES)
  test(`${what}: the plan of a restart is out of date, and no pod is evicted`, async () => {
    const it = stand(SEEN);
    const planned = (await planAction(it.init, CHOICE)) ?? assert.fail('no plan');
    it.become(pods);
    const { outcome, lines } = await planned.run(CONFIRM);
    assert.equal(outcome, 'outdated');
    assert.match(lines.join('\n'), /pods .* have changed/);
    assert.deepEqual(it.evicted(), []);
  });
