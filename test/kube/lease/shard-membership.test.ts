// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeasedShardFilter } from '#kube/lease/shard-filter.ts';
import { createShardMembership } from '#kube/lease/shard-membership.ts';
import {
  leaseStagePerTest,
  type Replica as LeaseReplica,
} from '../../support/kube/lease-replica.ts';
import { peerTimes } from '#kube/lease/lease.ts';

type Replica = LeaseReplica<LeasedShardFilter>;

const stage = leaseStagePerTest();

function start(name: string, isReady: () => boolean = () => true): Replica {
  const identity = `${name}_1`;
  return stage.start(name, (ports) =>
    createShardMembership({ ...ports, name, identity, times: peerTimes(15), isReady }),
  );
}

const KEYS = Array.from({ length: 400 }, (_value, index) => `key-${index}`);
const share = (replica: Replica): string[] => KEYS.filter(replica.filter.owns);

/** How many keys no replica owns, and how many several own. */
function gapsAndOverlaps(...all: readonly Replica[]): [number, number] {
  const owners = KEYS.map((key) => all.filter(({ filter }) => filter.owns(key)).length);
  return [owners.filter((count) => count === 0).length, owners.filter((count) => count > 1).length];
}

test('a replica that is alone owns every key, once it knows that it is alone', async () => {
  const a = start('a');
  assert.equal(share(a).length, 0);
  await stage.time.advance(0);
  assert.equal(share(a).length, KEYS.length);
  assert.deepEqual(a.counted, [[1, 1]]);
});

test('three replicas own each key exactly once, and ownership is stable', async () => {
  const a = start('a');
  const all = [a, start('b'), start('c')];
  await stage.time.advance(1_000);
  assert.deepEqual(gapsAndOverlaps(...all), [0, 0]);
  const before = all.map(share);
  await stage.time.advance(600_000);
  assert.deepEqual(all.map(share), before);
  assert.deepEqual(a.counted.at(-1), [3, 1 / 3]);
  assert.equal(a.log.lines.filter(({ level }) => level === 'warn').length, 0);
});

test('a changed report is in the Lease within a second, long before the next renewal', async () => {
  let report = 'first';
  const replica = stage.start('a', (ports) =>
    createShardMembership({
      ...ports,
      name: 'a',
      identity: 'a_1',
      times: peerTimes(15),
      isReady: () => true,
      annotations: () => ({ report }),
    }),
  );
  const reported = (): string | undefined =>
    stage.api.leases.get('a')?.metadata.annotations?.['report'];
  await stage.time.advance(1_000);
  assert.equal(reported(), 'first');
  report = 'second';
  await stage.time.advance(500);
  assert.equal(reported(), 'first');
  replica.filter.renew();
  await stage.time.advance(0);
  assert.equal(reported(), 'second');
  report = 'third';
  replica.filter.renew();
  await stage.time.advance(1_000);
  assert.equal(reported(), 'third');
});

test('a replica that stops leaves at once, and the others own its keys', async () => {
  const [a, b, c] = [start('a'), start('b'), start('c')];
  await stage.time.advance(1_000);
  const kept = share(a);
  await c.stop();
  await stage.time.advance(0);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
  assert.ok(kept.every(a.filter.owns));
  assert.deepEqual([...stage.api.leases.keys()], ['a', 'b']);
});

test('a killed replica’s keys are taken over when its Lease expires, and no sooner', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  const kept = share(a);
  b.pause(true);
  await stage.time.advance(13_900);
  assert.deepEqual(share(a), kept);
  await stage.time.advance(200);
  assert.equal(share(a).length, KEYS.length);
});

test('a replica joins once it is ready, and owns no keys of the others before', async () => {
  const a = start('a');
  await stage.time.advance(1_000);
  let ready = false;
  const b = start('b', () => ready);
  await stage.time.advance(60_000);
  assert.deepEqual([share(a).length, share(b).length], [KEYS.length, 0]);
  ready = true;
  await stage.time.advance(1_000);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
  assert.ok(share(b).length > 100);
  ready = false;
  await stage.time.advance(60_000);
  assert.ok(share(b).length > 100, 'a replica that has joined does not leave');
});

test('a replica that is not ready owns every key if it is alone', async () => {
  const a = start('a', () => false);
  await stage.time.advance(1_000);
  assert.equal(share(a).length, KEYS.length);
  assert.equal(stage.api.leases.size, 0);
});

test('a process that was stopped does not take the others for dead when it continues', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  const kept = share(a);
  a.pause(true);
  await stage.time.advance(60_000);
  assert.equal(share(b).length, KEYS.length);
  a.pause(false);
  await stage.time.advance(5_000);
  assert.deepEqual(share(a), kept);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
});

test('a late process takes over keys of a killed replica only, within two Leases', async () => {
  const [a, b, c] = [start('a'), start('b'), start('c')];
  await stage.time.advance(1_000);
  a.starve(2_000);
  await stage.time.advance(600_000);
  assert.deepEqual(gapsAndOverlaps(a, b, c), [0, 0]);
  b.pause(true);
  await stage.time.advance(2 * 15_000 + 5_000);
  assert.deepEqual(gapsAndOverlaps(a, c), [0, 0]);
  await stage.time.advance(600_000);
  assert.deepEqual(gapsAndOverlaps(a, c), [0, 0]);
  assert.ok(!a.counted.some((each) => JSON.stringify(each) === '[1,1]'));
});

test('a process that is always late and alone takes over all keys', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  a.starve(20_000);
  b.pause(true);
  await stage.time.advance(2 * 15_000 + 2 * 23_000);
  assert.equal(share(a).length, KEYS.length);
});

test('a watch that breaks again and again does not keep a killed replica alive', async () => {
  const [a, b, c] = [start('a'), start('b'), start('c')];
  await stage.time.advance(1_000);
  b.pause(true);
  for (let turn = 0; turn < 30; turn += 1) {
    stage.api.deafen('a');
    await stage.time.advance(4_000);
    stage.api.deafen('a', false);
    await stage.time.advance(4_000);
  }
  assert.deepEqual(gapsAndOverlaps(a, c), [0, 0]);
});

test('no replica counts as dead during an outage, and after 30 s each owns every key', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  const kept = share(a);
  for (const user of ['a', 'b']) {
    stage.api.trouble(user, () => 0);
    stage.api.deafen(user);
  }
  await stage.time.advance(28_000);
  assert.deepEqual(share(a), kept);
  await stage.time.advance(10_000);
  assert.equal(share(a).length, KEYS.length);
  for (const user of ['a', 'b']) {
    stage.api.trouble(user);
    stage.api.deafen(user, false);
  }
  await stage.time.advance(60_000);
  assert.deepEqual(share(a), kept);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
});

test('a replica that cannot renew its Lease keeps its own shard, and no more', async () => {
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  const kept = share(a);
  stage.api.trouble('a', ({ method }) => (method === 'PUT' ? 503 : undefined));
  await stage.time.advance(60_000);
  assert.deepEqual(share(a), kept);
  assert.equal(share(b).length, KEYS.length);
  assert.match(a.filter.warnings().join(), /Leases in ns: .*503/);
});

test('without permission for Leases each replica owns every key, and warns', async () => {
  for (const user of ['a', 'b']) stage.api.trouble(user, () => 403);
  const [a, b] = [start('a'), start('b')];
  await stage.time.advance(1_000);
  assert.deepEqual([share(a).length, share(b).length], [KEYS.length, KEYS.length]);
  assert.match(
    a.filter.warnings().join(),
    /403.*may do work twice, but each result is written once/,
  );
});

test('a deleted Lease is created again, and a predecessor’s is taken at once', async () => {
  stage.api.set('a', { holderIdentity: 'a_0', leaseDurationSeconds: 15 });
  const a = start('a');
  await stage.time.advance(500);
  assert.equal(stage.api.leases.get('a')?.spec?.holderIdentity, 'a_1');
  stage.api.set('a', undefined);
  await stage.time.advance(500);
  assert.equal(stage.api.leases.get('a')?.spec?.holderIdentity, 'a_1');
  assert.equal(share(a).length, KEYS.length);
});

test('two processes with one name do not write in a tight loop', async () => {
  const a = start('a');
  stage.api.set('a', { holderIdentity: 'twin', leaseDurationSeconds: 15 });
  await stage.time.advance(1_000);
  const before = stage.api.calls.length;
  for (let turn = 0; turn < 50; turn += 1) {
    stage.api.set('a', {
      holderIdentity: 'twin',
      leaseDurationSeconds: 15,
      leaseTransitions: turn,
    });
    await stage.time.advance(100);
  }
  assert.ok(
    stage.api.calls.length - before <= 6,
    `${stage.api.calls.length - before} calls in 5 s`,
  );
  assert.equal(share(a).length, KEYS.length);
});

test('the first member deletes stale Leases', async () => {
  stage.api.set('old', { holderIdentity: 'gone', leaseDurationSeconds: 15 });
  start('a');
  start('b');
  await stage.time.advance(100_000);
  assert.ok(stage.api.leases.has('old'));
  await stage.time.advance(60_000);
  assert.deepEqual([...stage.api.leases.keys()].sort(), ['a', 'b']);
  assert.deepEqual(
    stage.api.calls.filter((call) => call.includes('DELETE')),
    ['a DELETE old'],
  );
});
