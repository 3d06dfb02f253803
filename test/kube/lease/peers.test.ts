// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '#kube/lease/lease.ts';
import { createPeers } from '#kube/lease/peers.ts';

function lease(name: string, version: number, seconds = 15, holder = name): Lease {
  return {
    metadata: { name, namespace: 'n', uid: `${name}-1`, resourceVersion: String(version) },
    spec: { holderIdentity: holder, leaseDurationSeconds: seconds },
  };
}

test('a peer is live for the duration of its Lease from when it was seen to change', () => {
  const peers = createPeers();
  peers.observe('b', lease('b', 1), 1_000);
  peers.observe('a', lease('a', 2, 5), 2_000);
  assert.deepEqual(peers.live(6_999), ['a', 'b']);
  assert.equal(peers.nextExpiry(6_999), 7_000);
  assert.deepEqual(peers.live(7_000), ['b']);
  peers.observe('b', lease('b', 3), 10_000);
  assert.equal(peers.nextExpiry(10_000), 25_000);
  assert.deepEqual(peers.live(25_000), []);
  assert.equal(peers.nextExpiry(25_000), undefined);
});

test('seeing the same state of a Lease again, as after an outage, is no renewal', () => {
  const peers = createPeers();
  peers.observe('a', lease('a', 1), 0);
  peers.observe('a', lease('a', 1), 14_000);
  assert.deepEqual(peers.live(15_000), []);
});

test('a Lease that is deleted or released is not live', () => {
  const peers = createPeers();
  peers.observe('a', lease('a', 1), 0);
  peers.observe('b', lease('b', 1), 0);
  peers.observe('a', undefined, 10);
  peers.observe('b', lease('b', 2, 15, ''), 10);
  assert.deepEqual(peers.live(10), []);
});

test('`extend` prolongs Leases that were live, and no expired one', () => {
  const peers = createPeers();
  peers.observe('dead', lease('dead', 1), 0);
  peers.observe('alive', lease('alive', 1), 10_000);
  peers.extend(20_000, 80_000);
  assert.deepEqual(peers.live(80_000), ['alive']);
  assert.equal(peers.nextExpiry(80_000), 95_000);
});

test('`extend` prolongs a Lease once, until its next renewal is seen', () => {
  const peers = createPeers();
  peers.observe('a', lease('a', 1), 0);
  peers.extend(10_000, 12_000);
  peers.extend(20_000, 22_000);
  assert.equal(peers.nextExpiry(22_000), 27_000);
  peers.observe('a', lease('a', 2), 23_000);
  peers.extend(30_000, 37_000);
  assert.equal(peers.nextExpiry(37_000), 52_000);
});

test('`suspend` does not count the time for Leases that were live, and not more', () => {
  const peers = createPeers();
  peers.observe('dead', lease('dead', 1), 0);
  peers.observe('alive', lease('alive', 1), 10_000);
  peers.suspend(20_000, 80_000);
  assert.deepEqual(peers.live(80_000), ['alive']);
  assert.equal(peers.nextExpiry(80_000), 85_000);
  const later = createPeers();
  later.observe('new', lease('new', 1), 80_000);
  later.suspend(79_000, 81_000);
  assert.equal(later.nextExpiry(81_000), 96_000, 'seen at 80 s, and at most now');
});

test('a Lease without a renewal is suspended for two durations, or for one outage', () => {
  const peers = createPeers();
  peers.observe('a', lease('a', 1), 0);
  for (let turn = 1; turn <= 30; turn += 1) peers.suspend(turn * 10_000 - 9_000, turn * 10_000);
  assert.deepEqual(peers.live(300_000), []);
  peers.observe('b', lease('b', 1), 0);
  peers.suspend(5_000, 500_000);
  assert.deepEqual(peers.live(500_000), ['b']);
});

test('a forged Lease of years counts for five minutes', () => {
  const peers = createPeers();
  peers.observe('forged', lease('forged', 1, 2 ** 31 - 1), 0);
  assert.equal(peers.nextExpiry(0), 300_000);
  peers.observe('odd', lease('odd', 1, -5), 0);
  assert.deepEqual(peers.live(0), ['forged']);
});

test('stale Leases are returned in the state that was seen', () => {
  const peers = createPeers();
  peers.observe('old', lease('old', 7), 0);
  peers.observe('new', lease('new', 8), 60_000);
  assert.deepEqual(peers.expiredFor(60_000, 74_999), []);
  const [old, ...others] = peers.expiredFor(60_000, 75_000);
  assert.deepEqual(others, []);
  assert.deepEqual([old?.metadata.name, old?.metadata.resourceVersion], ['old', '7']);
});
