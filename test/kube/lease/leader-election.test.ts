// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { createClient } from '#kube/client/client.ts';
import { createLeaderElection, type LeaderElection } from '#kube/lease/leader-election.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import {
  leaseStagePerTest,
  type Replica as LeaseReplica,
} from '../../support/kube/lease-replica.ts';
import { leaderTimes } from '#kube/lease/lease.ts';

type Replica = LeaseReplica<LeaderElection>;

const stage = leaseStagePerTest();

function start(identity: string): Replica {
  return stage.start(identity, (ports) =>
    createLeaderElection({ ...ports, name: 'leader', identity, times: leaderTimes(15) }),
  );
}

const holder = (): string | undefined => stage.api.leases.get('leader')?.spec?.holderIdentity;
const leads = (replica: Replica): boolean => replica.filter.owns('anything');

test('of two replicas one leads, and renews every two seconds', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(60_000);
  assert.deepEqual([leads(a), leads(b)].sort(), [false, true]);
  assert.equal(holder(), leads(a) ? 'a' : 'b');
  const renewals = stage.api.calls.filter((call) => call.endsWith('PUT leader')).length;
  assert.ok(renewals >= 28 && renewals <= 30, `${renewals} renewals`);
  assert.deepEqual(a.counted.at(-1), leads(a));
});

test('a leader that stops releases its Lease, and the other leads at once', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  const [leader, other] = leads(a) ? [a, b] : [b, a];
  await leader.stop();
  await stage.time.advance(0);
  assert.equal(leads(leader), false);
  assert.equal(leads(other), true);
});

test('a leader writes its annotations with each renewal and removes them when it stops', async () => {
  let said = 'one';
  const leader = stage.start('a', (ports) =>
    createLeaderElection({
      ...ports,
      name: 'leader',
      identity: 'a',
      times: leaderTimes(15),
      annotations: () => ({ 'example.com/report': said }),
    }),
  );
  await stage.time.advance(1_000);
  const annotations = (): unknown => stage.api.leases.get('leader')?.metadata.annotations;
  assert.deepEqual(annotations(), { 'example.com/report': 'one' });
  said = 'two';
  leader.filter.renew();
  await stage.time.advance(1_000);
  assert.deepEqual(annotations(), { 'example.com/report': 'two' });
  await leader.stop();
  assert.deepEqual(JSON.parse(JSON.stringify(annotations())), {});
});

test('a leader that hangs stops leading before its Lease expires; then the other leads', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  const b = start('b');
  await stage.time.advance(1_000);
  a.pause(true);
  await stage.time.advance(10_500);
  assert.equal(leads(a), false, 'by the clock alone');
  assert.equal(leads(b), false, 'not yet');
  await stage.time.advance(5_000);
  assert.equal(leads(b), true);
  a.pause(false);
  await stage.time.advance(30_000);
  assert.equal(leads(a), false);
  assert.equal(leads(b), true);
  assert.equal(holder(), 'b');
  assert.deepEqual(a.counted, [false, true, false]);
});

test('a short outage of the API server loses no Lease; a long one does', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  stage.api.trouble('a', () => 503);
  await stage.time.advance(7_000);
  assert.equal(leads(a), true);
  stage.api.trouble('a');
  await stage.time.advance(4_000);
  assert.equal(leads(a), true);
  stage.api.trouble('a', () => 503);
  await stage.time.advance(12_000);
  assert.equal(leads(a), false);
  assert.match(a.filter.warnings().join(), /Lease ns\/leader: .*503/);
  stage.api.trouble('a');
  await stage.time.advance(4_000);
  assert.equal(leads(a), true);
  assert.deepEqual(a.filter.warnings(), []);
});

test('a renewal whose response was lost is recognised as ours', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  stage.api.deafen('a');
  let lost = 0;
  stage.api.trouble('a', ({ method }) => {
    if (method !== 'PUT' || lost > 0) return undefined;
    lost += 1;
    return 'lost';
  });
  await stage.time.advance(30_000);
  assert.equal(lost, 1);
  assert.equal(leads(a), true);
  assert.deepEqual(a.counted, [false, true, 'failed']);
});

test('a deleted Lease is lost, and acquired again', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  stage.api.set('leader', undefined);
  await stage.time.advance(5_000);
  assert.deepEqual(a.counted, [false, true, false, true]);
});

test('listeners run after each change', async () => {
  const a = start('a');
  const heard: boolean[] = [];
  a.filter.onChange(() => heard.push(leads(a)));
  await stage.time.advance(1_000);
  stage.api.set('leader', { holderIdentity: 'thief', leaseDurationSeconds: 15 });
  await stage.time.advance(1_000);
  assert.deepEqual(heard, [true, false]);
});

test('without permission for Leases every replica works and warns, unless one leads', async () => {
  stage.api.trouble('a', () => 403);
  const a = start('a');
  await stage.time.advance(1_000);
  assert.equal(leads(a), true);
  assert.match(a.filter.warnings().join(), /403.*works without the Lease/);
  stage.api.set('leader', { holderIdentity: 'other', leaseDurationSeconds: 15 });
  stage.api.trouble('b', ({ method }) => (method === 'PUT' || method === 'POST' ? 403 : undefined));
  const b = start('b');
  await stage.time.advance(1_000);
  assert.equal(leads(b), false);
  await stage.time.advance(20_000);
  assert.equal(leads(b), true);
});

test('the fenced client always reads and reviews, and writes only while leading', async () => {
  const a = start('a');
  const client = recordedClient();
  const fenced = a.filter.fenced(client);
  const write = { method: 'PUT', path: '/x', body: {} } as const;
  const refused = (error: unknown): boolean =>
    error instanceof SignerError && error.code === 'NOT_LEADING' && error.disposition === 'retry';
  const others = '/apis/authorization.k8s.io/v1/subjectaccessreviews/x';
  await Promise.all([
    assert.rejects(fenced.request(write), refused),
    assert.rejects(fenced.request({ method: 'POST', path: others }), refused),
  ]);
  await fenced.request({ method: 'GET', path: '/x' });
  // A review stores nothing.
  for (const path of [
    '/apis/authentication.k8s.io/v1/tokenreviews',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  ])
    await fenced.request({ method: 'POST', path });
  await stage.time.advance(1_000);
  await fenced.request(write);
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['GET', 'POST', 'POST', 'PUT'],
  );
  a.pause(true);
  await stage.time.advance(12_000);
  await assert.rejects(fenced.request(write), refused);
  assert.equal(client.requests.length, 4);
});

test('the fenced client passes every member on to an instance of a class', async () => {
  const { clock } = stage.time;
  const client = createClient({
    connection: {
      server: 'https://stage.api.example',
      credentials: () => Promise.reject(new Error('no credentials here')),
      invalidate: () => undefined,
    },
    clock,
    monotonic: clock,
    userAgent: 'test',
  });
  const fenced = start('a').filter.fenced(client);
  const get = { method: 'GET', path: '/x' } as const;
  await assert.rejects(fenced.request(get), /no credentials here/);
  await assert.rejects(fenced.stream(get), /no credentials here/);
  assert.equal(fenced.clockOffset(), 0);
  await fenced.close();
});

test('a write in flight is aborted when the Lease is lost', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  const client = recordedClient();
  client.answer(
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
  );
  const write = a.filter.fenced(client).request({ method: 'PUT', path: '/x', body: {} });
  const cutOff = assert.rejects(write, { code: 'NOT_LEADING' });
  stage.api.set('leader', { holderIdentity: 'thief', leaseDurationSeconds: 15 });
  await stage.time.advance(0);
  await cutOff;
});
