// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../../../src/kube/lease/lease.ts';
import { createPeers } from '../../../src/kube/lease/peers.ts';

function lease(name: string, version: number, seconds = 15, holder = name): Lease {
  return {
    metadata: { name, namespace: 'n', uid: `${name}-1`, resourceVersion: String(version) },
    spec: { holderIdentity: holder, leaseDurationSeconds: seconds },
  };
}

test('a member is there for its Lease’s duration from when we saw it change', () => {
  const members = createPeers();
  members.observe('b', lease('b', 1), 1_000);
  members.observe('a', lease('a', 2, 5), 2_000);
  assert.deepEqual(members.live(6_999), ['a', 'b']);
  assert.equal(members.nextExpiry(6_999), 7_000);
  assert.deepEqual(members.live(7_000), ['b']);
  members.observe('b', lease('b', 3), 10_000);
  assert.equal(members.nextExpiry(10_000), 25_000);
  assert.deepEqual(members.live(25_000), []);
  assert.equal(members.nextExpiry(25_000), undefined);
});

test('a state that is told again, as after an outage, is no sign of life', () => {
  const members = createPeers();
  members.observe('a', lease('a', 1), 0);
  members.observe('a', lease('a', 1), 14_000);
  assert.deepEqual(members.live(15_000), []);
});

test('a Lease that is deleted or given back is no member any more', () => {
  const members = createPeers();
  members.observe('a', lease('a', 1), 0);
  members.observe('b', lease('b', 1), 0);
  members.observe('a', undefined, 10);
  members.observe('b', lease('b', 2, 15, ''), 10);
  assert.deepEqual(members.live(10), []);
});

test('while nothing can be heard nobody’s time runs out; who was gone before stays gone', () => {
  const members = createPeers();
  members.observe('dead', lease('dead', 1), 0);
  members.observe('alive', lease('alive', 1), 10_000);
  members.extend(20_000, 80_000);
  assert.deepEqual(members.live(80_000), ['alive']);
  assert.equal(members.nextExpiry(80_000), 95_000);
});

test('a forged Lease of years counts for five minutes', () => {
  const members = createPeers();
  members.observe('forged', lease('forged', 1, 2 ** 31 - 1), 0);
  assert.equal(members.nextExpiry(0), 300_000);
  members.observe('odd', lease('odd', 1, -5), 0);
  assert.deepEqual(members.live(0), ['forged']);
});

test('Leases that have long run out are named with the state that was seen', () => {
  const members = createPeers();
  members.observe('old', lease('old', 7), 0);
  members.observe('new', lease('new', 8), 60_000);
  assert.deepEqual(members.expiredFor(60_000, 74_999), []);
  const [old, ...others] = members.expiredFor(60_000, 75_000);
  assert.deepEqual(others, []);
  assert.deepEqual([old?.metadata.name, old?.metadata.resourceVersion], ['old', '7']);
});
