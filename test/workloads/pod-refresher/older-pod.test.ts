// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { refresherDeps } from '#workloads/pod-refresher/act.ts';
import type { RestartOutcome } from '#workloads/refresh/refresher.ts';
import type { RestartState } from '#workloads/refresh/restart-state.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { leafAt, podOf, START, workloadOf } from '../refresh/world.ts';

const state: RestartState = {
  key: 'Deployment/team-a/web',
  workload: workloadOf({ namespace: 'team-a', name: 'web', secrets: ['tls'] }),
  way: 'eviction',
  changes: [{ credential: 'secret/tls', leaf: leafAt('new', START), use: { untilPodEnds: false } }],
  unknown: [],
  dueAt: START,
  deadline: START,
  record: new Map(),
};

async function evicted(
  answer: (request: RequestInit) => unknown,
): Promise<readonly [RestartOutcome, RecordedComponent]> {
  const component = recordedComponent();
  component.client.answer(answer);
  const fail = (): never => assert.fail('no workload is written');
  const world = refresherDeps(component, () => [], fail);
  return [await world.evict(state, podOf('web-1', START)), component];
}

test('an older pod is evicted by its UID alone, and its Event names the certificate', async () => {
  const [outcome, { client, notes }] = await evicted(() => ({}));
  assert.equal(outcome, 'begun');
  assert.deepEqual(
    client.requests.map(({ method, path, body }) => [method, path, body]),
    [
      [
        'POST',
        '/api/v1/namespaces/team-a/pods/web-1/eviction',
        {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace: 'team-a', name: 'web-1' },
          deleteOptions: { preconditions: { uid: 'web-1' } },
        },
      ],
    ],
  );
  assert.deepEqual(
    notes.map(({ reason, note, regarding }) => [reason, note, regarding.name]),
    [['CertificateChanged', 'evicted: it has an older certificate of secret/tls', 'web-1']],
  );
});

test('an eviction that a budget denies is a refusal, and one of a gone pod is not', async () => {
  const failing = (status: number) => (): never => {
    throw new KubeError({ status, what: 'POST' });
  };
  const [denied, { notes }] = await evicted(failing(429));
  assert.ok(typeof denied === 'object' && 'refused' in denied);
  assert.equal(notes.length, 0);
  assert.equal((await evicted(failing(404)))[0], 'conflict');
});
