// SPDX-License-Identifier: Apache-2.0
/**
 * What the API server answers to an Eviction (pkg/registry/core/pod/storage/eviction.go), and what
 * it means.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evict, type Eviction } from '#kube/client/eviction.ts';
import { KubeError, type Status } from '#kube/client/kube-error.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const POD = { namespace: 'team-a', name: 'web', uid: 'uid-1' };
const BUDGET: Status = {
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  details: {
    retryAfterSeconds: 10,
    causes: [
      { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods' },
    ],
  },
};

/** @param there - UID of the pod that a GET finds; '' for none */
async function answered(status: number, body?: Status, there = 'uid-1'): Promise<Eviction> {
  const client = recordedClient();
  client.answer(({ method }) => {
    const what = 'POST eviction';
    if (method === 'POST') throw new KubeError({ status, what, body, cause: 'cut' });
    if (there === '') throw new KubeError({ status: 404, what: 'GET pod' });
    return { metadata: { uid: there } };
  });
  return evict(client, POD, false);
}

test('an eviction names the UID of the pod, so that a new pod of that name stays', async () => {
  const client = recordedClient();
  client.answer(() => ({ status: 'Success' }));
  assert.deepEqual(await evict(client, POD, false), { kind: 'evicted' });
  const [request] = client.requests;
  assert.equal(request?.path, '/api/v1/namespaces/team-a/pods/web/eviction');
  const { deleteOptions } = request.body as { deleteOptions: unknown };
  assert.deepEqual(deleteOptions, { preconditions: { uid: 'uid-1' } });
  assert.equal(request.query?.['dryRun'], undefined);
});

test('a dry run is marked as one in the request', async () => {
  const client = recordedClient();
  client.answer(() => ({ status: 'Success' }));
  await evict(client, POD, true);
  assert.equal(client.requests[0]?.query?.['dryRun'], 'All');
});

test('a pod with several disruption budgets is refused if the server responds 201', async () => {
  const client = recordedClient();
  client.answer(() => ({
    status: 'Failure',
    code: 500,
    message: 'more than one PodDisruptionBudget',
  }));
  assert.deepEqual(await evict(client, POD, false), {
    kind: 'refused',
    message: 'more than one PodDisruptionBudget',
  });
});

test('a disruption budget that blocks is named, with the server’s Retry-After', async () => {
  assert.deepEqual(await answered(429, BUDGET), {
    kind: 'blocked',
    message: 'The disruption budget web needs 1 healthy pods',
    retryAfter: 10_000,
  });
});

const kinds: [
  what: string,
  kind: Eviction['kind'],
  status: number,
  body?: Status,
  there?: string,
][] = [
  ['a pod that is not there is gone', 'gone', 404],
  [
    'a conflict with another pod of the name: it is gone',
    'gone',
    409,
    { reason: 'Conflict' },
    'uid-2',
  ],
  ['a conflict, and no pod any more: it is gone', 'gone', 409, { reason: 'Conflict' }, ''],
  ['a conflict over the very pod: later', 'blocked', 409, { reason: 'Conflict' }],
  ['conflicts over its budget: later', 'blocked', 504, { reason: 'Timeout' }],
  ['no answer: later', 'blocked', 0],
  ['an API server in trouble: later', 'blocked', 503],
  ['a right that is missing: never', 'refused', 403],
  ['a request that is wrong: never', 'refused', 400],
];

for (const [what, kind, status, body, there] of kinds) {
  test(what, async () => {
    assert.equal((await answered(status, body, there)).kind, kind);
  });
}
