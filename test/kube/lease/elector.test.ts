// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Elector } from '#kube/lease/elector.ts';
import {
  heldSpec,
  leaderTimes,
  type Lease,
  type LeaseSpec,
  peerTimes,
  releasedSpec,
} from '#kube/lease/lease.ts';
import { runWorld, type WorldEnd } from '../../support/kube/lease-simulation.ts';

const TIMES = leaderTimes(15);
const WALL = Date.UTC(2026, 0, 1);

function candidate(more: { sole?: boolean } = {}): Elector {
  const random = (): Uint8Array => new Uint8Array(1);
  return new Elector({ identity: 'me', times: TIMES, exclusive: false, random, ...more });
}

function lease(version: number, spec: LeaseSpec): Lease {
  return { metadata: { name: 'l', namespace: 'n', uid: 'u', resourceVersion: `${version}` }, spec };
}

function heldBy(identity: string, version: number, before?: LeaseSpec): Lease {
  return lease(version, heldSpec(before, { identity, durationSeconds: 15 }, WALL));
}

/** A candidate that holds the Lease since 1000. */
function holder(): Elector {
  const election = candidate();
  election.observe(undefined, 0);
  election.onAttempt(1_000);
  election.onRenewed(heldBy('me', 1), 1_000, 1_200);
  return election;
}

test('the default lease times are client-go’s: 15, 10 and 2 seconds', () => {
  assert.deepEqual(TIMES, { durationSeconds: 15, deadlineMs: 10_000, periodMs: 2_000 });
});

test('a Lease is read before one is created', () => {
  const election = candidate();
  assert.deepEqual(election.next(0), { kind: 'read' });
  election.observe(undefined, 0);
  assert.deepEqual(election.next(0), { kind: 'create' });
});

test('a read that shows less than was known when it was sent shows a restored etcd', () => {
  const election = candidate();
  election.observe(heldBy('other', 900), 0);
  const restored = heldBy('third', 7);
  election.observe(restored, 1_000);
  assert.equal(election.otherHolder(1_000)?.metadata.resourceVersion, '900', 'a watch that lags');
  election.onRead(restored, '900', 2_000);
  assert.equal(election.otherHolder(2_000), restored);
  const renewed = heldBy('third', 8);
  election.observe(renewed, 10_000);
  assert.equal(election.otherHolder(20_000), renewed);
});

test('a read that was sent before the watch showed more changes nothing', () => {
  const election = candidate();
  election.observe(heldBy('other', 1), 0);
  const newer = heldBy('third', 3);
  election.observe(newer, 1_000);
  election.onRead(heldBy('other', 2), '1', 2_000);
  assert.equal(election.otherHolder(2_000), newer);
});

test('another’s Lease lasts from its last observed change, whatever its times say', () => {
  const election = candidate();
  const first = lease(1, { ...heldBy('other', 1).spec, renewTime: '1999-01-01T00:00:00.000000Z' });
  election.observe(first, 7_000);
  assert.deepEqual(election.next(7_000), { kind: 'wait', ms: 15_000 });
  const renewed = lease(2, { ...first.spec, renewTime: '2199-01-01T00:00:00.000000Z' });
  election.observe(renewed, 20_000);
  assert.deepEqual(election.next(34_999), { kind: 'wait', ms: 1 });
  assert.deepEqual(election.next(35_000), { kind: 'update', from: renewed });
});

test('seeing the same state of a Lease again is no renewal', () => {
  const election = candidate();
  const seen = heldBy('other', 4);
  election.observe(seen, 0);
  election.observe(seen, 10_000);
  assert.deepEqual(election.next(15_000), { kind: 'update', from: seen });
});

test('an older state than the one seen is ignored', () => {
  const election = holder();
  election.onRenewed(heldBy('me', 5), 3_000, 3_100);
  election.observe(heldBy('other', 4), 3_200);
  assert.equal(election.holds(3_200), true);
});

test('a released Lease is acquired at once, even between two attempts', () => {
  const election = candidate();
  election.observe(heldBy('other', 1), 0);
  election.onAttempt(0);
  const given = lease(2, releasedSpec(heldBy('other', 1).spec ?? {}, WALL));
  election.observe(given, 100);
  assert.deepEqual(election.next(100), { kind: 'update', from: given });
});

test('the deadline counts from when the renewal was sent, however late its response', () => {
  const election = candidate();
  election.observe(undefined, 0);
  election.onAttempt(0);
  election.onRenewed(heldBy('me', 1), 0, 9_000);
  assert.equal(election.heldUntil(9_999), 10_000);
  assert.equal(election.holds(10_000), false);
});

test('a response after the deadline does not acquire the Lease', () => {
  const election = candidate();
  election.observe(undefined, 0);
  election.onRenewed(heldBy('me', 1), 0, 10_001);
  assert.equal(election.holds(10_001), false);
});

test('a process stopped past its deadline does not hold the Lease when it continues', () => {
  const election = holder();
  assert.equal(election.holds(10_999), true);
  assert.equal(election.holds(60_000), false);
});

test('renewals are due every period, with jitter', () => {
  const election = holder();
  assert.deepEqual(election.next(1_200), { kind: 'wait', ms: 1_800 });
  assert.equal(election.next(3_000).kind, 'update');
  const spread = new Elector({
    identity: 'me',
    times: TIMES,
    exclusive: false,
    random: () => new Uint8Array([255]),
  });
  spread.observe(undefined, 0);
  spread.onAttempt(0);
  const wait = spread.next(0);
  assert.ok(wait.kind === 'wait' && wait.ms > 2_390 && wait.ms <= 2_400);
});

test('a renewal with changed annotations is due a second after the last one at most', () => {
  const election = holder();
  election.hasten(1_500);
  assert.deepEqual(election.next(1_500), { kind: 'wait', ms: 500 });
  election.hasten(2_200);
  assert.equal(election.next(2_200).kind, 'update');
  const other = candidate();
  other.observe(heldBy('other', 1), 0);
  other.onAttempt(0);
  other.hasten(0);
  assert.deepEqual(other.next(0), { kind: 'wait', ms: 2_000 });
});

test('a Lease with another holder, or none, is lost at once', () => {
  for (const seen of [heldBy('other', 9), undefined]) {
    const election = holder();
    election.observe(seen, 2_000);
    assert.equal(election.holds(2_000), false);
  }
});

test('our own Lease whose response was lost is renewed without waiting', () => {
  const election = candidate();
  election.observe(heldBy('me', 3), 5_000);
  assert.equal(election.holds(5_000), false);
  assert.equal(election.next(5_000).kind, 'update');
});

test('a candidate that resigns holds nothing, and returns the Lease to release', () => {
  const election = holder();
  assert.equal(election.resign()?.metadata.resourceVersion, '1');
  assert.equal(election.holds(1_300), false);
  const other = candidate();
  other.observe(heldBy('other', 1), 0);
  assert.equal(other.resign(), undefined);
});

test('an exclusive Lease is created without a read and taken from a predecessor', () => {
  const election = new Elector({
    identity: 'me',
    times: peerTimes(15),
    exclusive: true,
    random: () => new Uint8Array(1),
  });
  assert.deepEqual(election.next(0), { kind: 'create' });
  const found = heldBy('me-before', 2);
  election.observe(found, 10);
  assert.deepEqual(election.next(10), { kind: 'update', from: found });
});

test('a Lease without holder or duration is free; one of years counts for five minutes', () => {
  for (const spec of [
    {},
    { holderIdentity: 'x' },
    { holderIdentity: '', leaseDurationSeconds: 9 },
  ]) {
    const election = candidate();
    election.observe(lease(1, spec), 0);
    assert.equal(election.next(0).kind, 'update');
  }
  const election = candidate();
  election.observe(lease(1, { holderIdentity: 'x', leaseDurationSeconds: 10 ** 9 }), 0);
  assert.deepEqual(election.next(0), { kind: 'wait', ms: 300_000 });
});

test('times have six fraction digits; transitions count holders, not renewals', () => {
  const first = heldSpec(undefined, { identity: 'a', durationSeconds: 15 }, WALL);
  assert.match(first.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.equal(first.leaseTransitions, 0);
  const renewed = heldSpec(first, { identity: 'a', durationSeconds: 15 }, WALL + 2_000);
  assert.equal(renewed.acquireTime, first.acquireTime);
  assert.equal(renewed.leaseTransitions, 0);
  const next = heldSpec(renewed, { identity: 'b', durationSeconds: 15 }, WALL + 4_000);
  assert.equal(next.acquireTime, next.renewTime);
  assert.equal(next.leaseTransitions, 1);
  const given = releasedSpec(next, WALL);
  assert.equal(given.holderIdentity, undefined);
  assert.equal(heldSpec(given, { identity: 'a', durationSeconds: 15 }, WALL).leaseTransitions, 2);
});

test('a Lease with the greatest count of transitions can be acquired', () => {
  // int32 in coordination.k8s.io/v1: the API server rejects a greater number.
  const before = { holderIdentity: 'gone', leaseTransitions: 2 ** 31 - 1 };
  const held = heldSpec(before, { identity: 'a', durationSeconds: 15 }, WALL);
  assert.equal(held.leaseTransitions, 2 ** 31 - 1);
});

// The world: 0.82 and 1.22 differ by less than the 1.5 that 15 s and 10 s allow.
const rate = fc.double({ min: 0.82, max: 1.22, noNaN: true });
const TROUBLE_MS = 300_000;

function world(rates: readonly number[], seed: number, times = TIMES): WorldEnd {
  const random = sequence(seed);
  return runWorld({ times, rates, random, troubleUntil: TROUBLE_MS, until: TROUBLE_MS + 120_000 });
}

/** Mulberry32: the same numbers for the same seed. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('no two candidates ever hold the Lease at once, and one does when faults end', () => {
  fc.assert(
    fc.property(fc.array(rate, { minLength: 2, maxLength: 4 }), fc.integer(), (rates, seed) => {
      const { most, holders } = world(rates, seed);
      assert.ok(most <= 1, `${most} held it`);
      assert.equal(holders.length, 1);
    }),
    { numRuns: 300 },
  );
});

test('the simulation changes holders, and detects a deadline above the duration', () => {
  const rates = [0.82, 1, 1.22];
  const seeds = Array.from({ length: 40 }, (_value, index) => index);
  assert.ok(seeds.some((seed) => world(rates, seed).changes > 5));
  const careless = { ...TIMES, deadlineMs: 30_000 };
  assert.ok(seeds.some((seed) => world(rates, seed, careless).most > 1));
});
