// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { LeasedShardFilter } from '../../../src/kube/lease/shard-filter.ts';
import { createShardMembership } from '../../../src/kube/lease/shard-membership.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { leaseApi, type LeaseApi } from '../../support/kube/lease-api.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import { memberTimes } from '../../../src/kube/lease/lease.ts';

interface Replica {
  readonly duty: LeasedShardFilter;
  readonly log: ReturnType<typeof recordedLog>;
  /** Members and part, as they were counted. */
  readonly counted: (readonly [number, number])[];
  readonly stop: () => Promise<void>;
  /** As SIGSTOP: its clock goes on, and it does nothing; for ever, as SIGKILL. */
  readonly pause: (paused: boolean) => void;
}

let api: LeaseApi;
let time: FakeTime;
let replicas: Replica[];
beforeEach(() => {
  api = leaseApi();
  time = fakeTime();
  replicas = [];
});
afterEach(() => Promise.all(replicas.map(({ stop }) => stop())));

function start(name: string, isReady: () => boolean = () => true): Replica {
  const log = recordedLog();
  const counted: (readonly [number, number])[] = [];
  const held: (() => void)[] = [];
  let paused = false;
  const duty = createShardMembership({
    client: api.client(name),
    clock: time.clock,
    monotonic: time.clock,
    delay: async (ms, signal) => {
      await time.delay(ms, signal);
      if (paused) await new Promise<void>((resolve) => held.push(resolve));
    },
    random: (size) => new Uint8Array(size),
    log,
    metrics: {
      leads: () => undefined,
      shares: (members, part) => counted.push([members, part]),
      leaseFailed: () => undefined,
      watchRestart: () => undefined,
      watchEvent: () => undefined,
      watchStopped: () => undefined,
    },
    namespace: 'ns',
    name,
    labels: { app: 'x' },
    identity: `${name}_1`,
    times: memberTimes(15),
    isReady,
  });
  const abort = new AbortController();
  const running = duty.run(abort.signal);
  const pause = (now: boolean): void => {
    paused = now;
    api.deafen(name, now);
    for (const go of held.splice(0)) go();
  };
  const stop = async (): Promise<void> => {
    pause(false);
    abort.abort(new Error('stopped'));
    await time.advance(0);
    await running;
  };
  const replica = { duty, log, counted, pause, stop };
  replicas.push(replica);
  return replica;
}

const KEYS = Array.from({ length: 400 }, (_value, index) => `key-${index}`);
const share = (replica: Replica): string[] => KEYS.filter(replica.duty.owns);

/** Keys that nobody has, and keys that several have. */
function gapsAndOverlaps(...all: readonly Replica[]): [number, number] {
  const owners = KEYS.map((key) => all.filter(({ duty }) => duty.owns(key)).length);
  return [owners.filter((count) => count === 0).length, owners.filter((count) => count > 1).length];
}

test('a replica that is alone has everything, as soon as it knows that it is', async () => {
  const a = start('a');
  assert.equal(share(a).length, 0);
  await time.advance(0);
  assert.equal(share(a).length, KEYS.length);
  assert.deepEqual(a.counted, [[1, 1]]);
});

test('three replicas have every key once, and keep it so', async () => {
  const a = start('a');
  const all = [a, start('b'), start('c')];
  await time.advance(1_000);
  assert.deepEqual(gapsAndOverlaps(...all), [0, 0]);
  const before = all.map(share);
  await time.advance(600_000);
  assert.deepEqual(all.map(share), before);
  assert.deepEqual(a.counted.at(-1), [3, 1 / 3]);
  assert.equal(a.log.lines.filter(({ level }) => level === 'warn').length, 0);
});

test('a replica that ends leaves at once; its keys go to the others', async () => {
  const [a, b, c] = [start('a'), start('b'), start('c')];
  await time.advance(1_000);
  const kept = share(a);
  await c.stop();
  await time.advance(0);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
  assert.ok(kept.every(a.duty.owns));
  assert.deepEqual([...api.leases.keys()], ['a', 'b']);
});

test('the keys of one that was killed are taken over when its Lease runs out, and no sooner', async () => {
  const [a, b] = [start('a'), start('b')];
  await time.advance(1_000);
  const kept = share(a);
  b.pause(true);
  await time.advance(13_900);
  assert.deepEqual(share(a), kept);
  await time.advance(200);
  assert.equal(share(a).length, KEYS.length);
});

test('a replica joins when it is ready first, and until then takes nothing from those who work', async () => {
  const a = start('a');
  await time.advance(1_000);
  let ready = false;
  const b = start('b', () => ready);
  await time.advance(60_000);
  assert.deepEqual([share(a).length, share(b).length], [KEYS.length, 0]);
  ready = true;
  await time.advance(1_000);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
  assert.ok(share(b).length > 100);
  ready = false;
  await time.advance(60_000);
  assert.ok(share(b).length > 100, 'a moment’s trouble is no reason to leave');
});

test('one that is not ready works all the same where nobody else does', async () => {
  const a = start('a', () => false);
  await time.advance(1_000);
  assert.equal(share(a).length, KEYS.length);
  assert.equal(api.leases.size, 0);
});

test('a process that was stopped does not take the others for gone when it goes on', async () => {
  const [a, b] = [start('a'), start('b')];
  await time.advance(1_000);
  const kept = share(a);
  a.pause(true);
  await time.advance(60_000);
  assert.equal(share(b).length, KEYS.length);
  a.pause(false);
  await time.advance(5_000);
  assert.deepEqual(share(a), kept);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
});

test('while the API server is away nobody is taken for gone; after long each goes on alone', async () => {
  const [a, b] = [start('a'), start('b')];
  await time.advance(1_000);
  const kept = share(a);
  for (const user of ['a', 'b']) {
    api.trouble(user, () => 0);
    api.deafen(user);
  }
  await time.advance(28_000);
  assert.deepEqual(share(a), kept);
  await time.advance(10_000);
  assert.equal(share(a).length, KEYS.length);
  for (const user of ['a', 'b']) {
    api.trouble(user);
    api.deafen(user, false);
  }
  await time.advance(60_000);
  assert.deepEqual(share(a), kept);
  assert.deepEqual(gapsAndOverlaps(a, b), [0, 0]);
});

test('one that cannot renew keeps its part, and no more', async () => {
  const [a, b] = [start('a'), start('b')];
  await time.advance(1_000);
  const kept = share(a);
  api.trouble('a', ({ method }) => (method === 'PUT' ? 503 : undefined));
  await time.advance(60_000);
  assert.deepEqual(share(a), kept);
  assert.equal(share(b).length, KEYS.length);
  assert.match(a.duty.warnings().join(), /Leases in ns: .*503/);
});

test('without the right to Leases each is alone, has everything, and says so', async () => {
  for (const user of ['a', 'b']) api.trouble(user, () => 403);
  const [a, b] = [start('a'), start('b')];
  await time.advance(1_000);
  assert.deepEqual([share(a).length, share(b).length], [KEYS.length, KEYS.length]);
  assert.match(a.duty.warnings().join(), /403.*written once/);
});

test('a Lease that was deleted is made anew; a predecessor’s of the same name is taken at once', async () => {
  api.set('a', { holderIdentity: 'a_0', leaseDurationSeconds: 15 });
  const a = start('a');
  await time.advance(500);
  assert.equal(api.leases.get('a')?.spec?.holderIdentity, 'a_1');
  api.set('a', undefined);
  await time.advance(500);
  assert.equal(api.leases.get('a')?.spec?.holderIdentity, 'a_1');
  assert.equal(share(a).length, KEYS.length);
});

test('two processes of one name do not write as fast as they can', async () => {
  const a = start('a');
  api.set('a', { holderIdentity: 'twin', leaseDurationSeconds: 15 });
  await time.advance(1_000);
  const before = api.calls.length;
  for (let turn = 0; turn < 50; turn += 1) {
    api.set('a', { holderIdentity: 'twin', leaseDurationSeconds: 15, leaseTransitions: turn });
    await time.advance(100);
  }
  assert.ok(api.calls.length - before <= 6, `${api.calls.length - before} calls in 5 s`);
  assert.equal(share(a).length, KEYS.length);
});

test('Leases that others left behind are deleted, once they are of no use to anybody', async () => {
  api.set('old', { holderIdentity: 'gone', leaseDurationSeconds: 15 });
  start('a');
  start('b');
  await time.advance(100_000);
  assert.ok(api.leases.has('old'));
  await time.advance(60_000);
  assert.deepEqual([...api.leases.keys()].sort(), ['a', 'b']);
  assert.deepEqual(
    api.calls.filter((call) => call.includes('DELETE')),
    ['a DELETE old'],
  );
});
