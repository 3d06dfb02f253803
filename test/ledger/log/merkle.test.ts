// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  emptyRoot,
  includes,
  isConsistent,
  leafHash,
  nodeHash,
  sha256,
} from '#ledger/log/merkle.ts';
import { consistencyPath, inclusionPath } from '#ledger/log/prove.ts';
import { rangeHash, type ReadTile } from '#ledger/log/tiles.ts';
import { MemoryLog } from '../../support/ledger/memory-log.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const entryOf = (index: number): Uint8Array => sha256(Buffer.from(String(index)));

async function logOf(size: number): Promise<MemoryLog> {
  const log = new MemoryLog();
  await log.append(Array.from({ length: size }, (_, index) => entryOf(index)));
  return log;
}

/** MTH as RFC 6962 §2.1 defines it, word for word. */
function mth(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return emptyRoot();
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return leafHash(only);
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return nodeHash(mth(leaves.slice(0, split)), mth(leaves.slice(split)));
}

// The leaves and roots that the tests of Certificate Transparency's implementations share.
const KNOWN_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const KNOWN_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

test('the roots of known leaves are the known roots', async () => {
  const leaves = KNOWN_LEAVES.map((leaf) => leafHash(Buffer.from(leaf, 'hex')));
  const read: ReadTile = () => Promise.resolve(Buffer.concat(leaves));
  for (const [index, root] of KNOWN_ROOTS.entries()) {
    assert.equal(hex(await rangeHash(read, 0, index + 1)), root);
  }
});

test('the root of tiles is the root of RFC 6962, however the entries came', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 6 }),
      async (batches) => {
        const log = new MemoryLog();
        for (const batch of batches) {
          const from = log.size;
          await log.append(Array.from({ length: batch }, (_, index) => entryOf(from + index)));
        }
        const entries = Array.from({ length: log.size }, (_, index) => entryOf(index));
        assert.equal(hex(await log.root()), hex(mth(entries)));
      },
    ),
    { numRuns: 30 },
  );
});

test('every entry of every small tree is proved, and no other entry, index or size', async () => {
  const log = await logOf(40);
  for (let size = 1; size <= 40; size += 1) {
    const root = await log.root(size);
    for (let index = 0; index < size; index += 1) {
      const path = await inclusionPath(log.read, index, size);
      const leaf = leafHash(entryOf(index));
      assert.ok(includes(leaf, { index, size, path, root }));
      assert.ok(!includes(leafHash(entryOf(index + 1)), { index, size, path, root }));
      assert.ok(!includes(leaf, { index: index + 1, size, path, root }));
      assert.ok(!includes(leaf, { index, size, path: [...path, root], root }));
      if (path.length > 0) assert.ok(!includes(leaf, { index, size, path: path.slice(1), root }));
    }
  }
});

test('a tree is consistent with each of its beginnings, and with no other tree', async () => {
  const log = await logOf(40);
  const other = new MemoryLog();
  await other.append(Array.from({ length: 40 }, (_, index) => entryOf(index === 0 ? 99 : index)));
  for (let newer = 0; newer <= 40; newer += 1) {
    for (let older = 0; older <= newer; older += 1) {
      const proof = await consistencyPath(log.read, older, newer);
      const [from, to] = [
        { size: older, root: await log.root(older) },
        { size: newer, root: await log.root(newer) },
      ];
      assert.ok(isConsistent(from, to, proof), `${older} to ${newer}`);
      if (older === 0) continue;
      assert.ok(!isConsistent({ size: older, root: await other.root(older) }, to, proof));
      assert.ok(!isConsistent(from, { size: newer, root: await other.root(newer) }, proof));
      assert.ok(!isConsistent(from, to, [...proof, from.root]));
      if (older < newer) assert.ok(!isConsistent(to, from, proof));
    }
  }
});

test('proofs reach over tiles of three levels', async () => {
  const log = await logOf(65_800);
  const [older, newer] = [65_537, 65_800];
  const root = await log.root();
  for (const index of [0, 255, 256, 65_535, 65_536, 65_799]) {
    const path = await inclusionPath(log.read, index, newer);
    assert.ok(includes(leafHash(entryOf(index)), { index, size: newer, path, root }));
  }
  const from = { size: older, root: await log.root(older) };
  const proof = await consistencyPath(log.read, older, newer);
  assert.ok(isConsistent(from, { size: newer, root }, proof));
  assert.deepEqual(
    [...log.tiles.keys()].filter((key) => /^[12]/.test(key)),
    ['1/0', '1/1', '2/0'],
  );
});

test('a log whose last tile is shorter or longer than its size is not appended to', async () => {
  const log = await logOf(300);
  for (const size of [299, 301]) {
    log.size = size;
    await assert.rejects(log.append([entryOf(0)]), { code: 'LEDGER_INCONSISTENT' });
  }
});
