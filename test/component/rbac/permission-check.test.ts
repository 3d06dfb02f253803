// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ServingFault } from '#api/serving/report.ts';
import type { RequestInit } from '#kube/client/client.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { createPermissionCheck, type PermissionCheck } from '#component/rbac/permission-check.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const SIGN: PermissionRule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['signers'],
  resourceNames: ['example.com/workload'],
  verbs: ['sign'],
};

/** In a Role of the components' namespace. */
const RENEW: PermissionRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['update'],
  namespace: 'countersign-system',
};

let time: FakeTime;
let client: RecordedClient;
let check: PermissionCheck;
let faults: readonly ServingFault[];
let counted: number[];
let permissions: readonly PermissionRule[];
/** What the API server grants, and what the rules review shows. */
let [granted, shown] = [true, 'before'];
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  [time, client, faults, counted, stop] = [
    fakeTime(),
    recordedClient(),
    [],
    [],
    new AbortController(),
  ];
  [granted, shown] = [true, 'before'];
  permissions = [SIGN];
  client.answer(({ path }: RequestInit) =>
    path.endsWith('rulesreviews')
      ? { status: { resourceRules: [{ shown }] } }
      : { status: { allowed: granted } },
  );
  check = createPermissionCheck({
    component: 'signer',
    client,
    clock: time.clock,
    delay: time.delay,
    log: recordedLog(),
    permissions: () => permissions,
    signers: () => [workload()],
    missing: (count) => counted.push(count),
    checked: (_signers, found) => {
      faults = found;
    },
  });
  running = check.run(stop.signal);
  await time.advance(0);
});
afterEach(async () => {
  stop.abort(new Error('stopped'));
  await time.advance(0);
  await running;
});

const requestsTo = (ending: string): number =>
  client.requests.filter(({ path }) => path.endsWith(ending)).length;
const reviews = (): number => requestsTo('accessreviews');
const comparisons = (): number => requestsTo('rulesreviews');

test('notices a changed role within six seconds, and its restoration in four', async () => {
  assert.deepEqual(check.notReady(), []);
  [granted, shown] = [false, 'after'];
  await time.advance(6_000);
  assert.match(
    check.notReady()[0] ?? '',
    /countersign-signer lacks: sign .*example\.com\/workload/,
  );
  assert.deepEqual(faults[0]?.signers, ['workload']);
  assert.equal(counted.at(-1), 1);
  [granted, shown] = [true, 'before'];
  await time.advance(4_000);
  assert.deepEqual([check.notReady(), faults, counted.at(-1)], [[], [], 0]);
});

test('while all is granted, the rules are compared twelve times a minute', async () => {
  await time.advance(60_000);
  const before = comparisons();
  await time.advance(60_000);
  assert.equal(comparisons() - before, 12);
});

test('one review has the rules of ClusterRoles and of the only Role', async () => {
  permissions = [SIGN, RENEW];
  await time.advance(1_000);
  const before = comparisons();
  await time.advance(60_000);
  assert.equal(comparisons() - before, 12);
  const last = client.requests.findLast(({ path }) => path.endsWith('rulesreviews'));
  const { spec } = last?.body as { readonly spec: object };
  assert.deepEqual(spec, { namespace: 'countersign-system' });
});

test('while no role changes, no permission is reviewed for five minutes', async () => {
  await time.advance(10_000);
  const before = reviews();
  await time.advance(280_000);
  assert.equal(reviews(), before);
  await time.advance(20_000);
  assert.ok(reviews() > before);
});

test('repeats a review, since another API server may learn of a change later', async () => {
  shown = 'after';
  await time.advance(5_000);
  granted = false;
  await time.advance(4_000);
  assert.equal(faults.length, 1);
});

test('a 403 starts a permission review at once, also if the authorizer lists no rules', async () => {
  await time.advance(60_000);
  granted = false;
  check.refused();
  await time.advance(2_000);
  assert.equal(faults.length, 1);
});

test('403 after 403, as of a policy, has them reviewed once in ten seconds at most', async () => {
  await time.advance(60_000);
  const before = reviews();
  for (let second = 0; second < 60; second += 1) {
    check.refused();
    await time.advance(1_000);
  }
  assert.ok(reviews() - before <= 6, `${reviews() - before} reviews`);
});

test('without a rules review the permissions are reviewed as before', async () => {
  client.answer(({ path }) => {
    if (path.endsWith('rulesreviews')) throw new Error('refused');
    return { status: { allowed: granted } };
  });
  granted = false;
  await time.advance(301_000);
  assert.equal(faults.length, 1);
  granted = true;
  await time.advance(14_000);
  assert.deepEqual(faults, []);
});
