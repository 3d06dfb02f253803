// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRendezvousHash } from '#kube/lease/rendezvous-hash.ts';

const uid = fc.uuid({ version: 4 });
const members = fc.uniqueArray(fc.stringMatching(/^countersign-signer-[0-9a-f]{10}$/), {
  minLength: 1,
  maxLength: 12,
});

/** Uniform, as the UIDs that the API server draws, and the same in every run. */
const KEYS = Array.from({ length: 60_000 }, (_value, index) =>
  createHash('sha256').update(String(index)).digest('hex').slice(0, 36),
);
const pods = (count: number): string[] =>
  Array.from({ length: count }, (_value, index) => `countersign-pcr-issuer-7d9c5bd7f-${index}abcd`);

/** Pearson's χ² of counts against equal ones. */
function chiSquare(counts: readonly number[], total: number): number {
  const each = total / counts.length;
  return counts.reduce((sum, count) => sum + (count - each) ** 2 / each, 0);
}

function countsOf(owners: readonly (string | undefined)[], names: readonly string[]): number[] {
  return names.map((name) => owners.filter((owner) => owner === name).length);
}

test('every key has one owner among the members, and none without members', () => {
  fc.assert(
    fc.property(members, uid, (names, key) => {
      assert.ok(names.includes(createRendezvousHash(names)(key) ?? ''));
    }),
  );
  assert.equal(createRendezvousHash([])('any'), undefined);
});

test('replicas with the same members agree, in whatever order they learned of them', () => {
  fc.assert(
    fc.property(members, uid, (names, key) => {
      const [one, other] = [
        createRendezvousHash(names),
        createRendezvousHash([...names, ...names].reverse()),
      ];
      assert.equal(one(key), other(key));
    }),
  );
});

test('a member that leaves moves its own keys and no others', () => {
  fc.assert(
    fc.property(members, uid, fc.nat(), (names, key, pick) => {
      const gone = names[pick % names.length];
      const before = createRendezvousHash(names)(key);
      const after = createRendezvousHash(names.filter((name) => name !== gone))(key);
      if (before !== gone) assert.equal(after, before);
    }),
  );
});

test('a member that joins takes keys, and moves none between the others', () => {
  fc.assert(
    fc.property(members, uid, (names, key) => {
      const before = createRendezvousHash(names)(key);
      const after = createRendezvousHash([...names, 'countersign-signer-new'])(key);
      assert.ok(after === before || after === 'countersign-signer-new');
    }),
  );
});

// A uniform hash exceeds them once in 100,000 sets of keys, a poor one always.
const LIMITS: Readonly<Record<number, number>> = { 2: 20, 3: 24, 5: 30, 10: 40 };

test('keys are shared evenly, even if the names of members are similar', () => {
  for (const [count, limit] of Object.entries(LIMITS)) {
    const names = pods(Number(count));
    const owners = KEYS.map(createRendezvousHash(names));
    const found = chiSquare(countsOf(owners, names), KEYS.length);
    assert.ok(found < limit, `χ² of ${count} members: ${found}`);
  }
});

test('the keys of a member that leaves are shared evenly by the others', () => {
  const names = pods(6);
  const [gone = '', ...left] = names;
  const whole = createRendezvousHash(names);
  const orphans = KEYS.filter((key) => whole(key) === gone);
  const found = chiSquare(countsOf(orphans.map(createRendezvousHash(left)), left), orphans.length);
  assert.ok(found < 30, `χ² ${found}`);
});

// Computed by another program from the definitions of FNV-1a and MurmurHash3.
test('the owners are those of the first version: replicas of two versions must agree', () => {
  const keys = Array.from(
    { length: 12 },
    (_value, index) => `0000000${index.toString(16)}-9d4a-4e6f-8b7c-1a2d3e4f5061`,
  );
  assert.equal(keys.map(createRendezvousHash(['a', 'b', 'c'])).join(''), 'ccabcabbabaa');
});
