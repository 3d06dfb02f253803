// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENTRIES_LEVEL, parseTilePath, servedTile, tilePath } from '#ledger/log/tiles.ts';

test('paths are as C2SP tlog-tiles spells them', () => {
  assert.equal(tilePath(0, 1_234_067), 'tile/0/x001/x234/067');
  assert.equal(tilePath(0, 273, 112), 'tile/0/273.p/112');
  assert.equal(tilePath(ENTRIES_LEVEL, 1000), 'tile/entries/x001/000');
});

test('each tile has one path, and what is no path of a tile is refused', () => {
  const parts = {
    level: fc.integer({ min: ENTRIES_LEVEL, max: 63 }),
    index: fc.integer({ min: 0, max: 10 ** 14 }),
    width: fc.integer({ min: 1, max: 256 }),
  };
  const tile = fc.record(parts, { noNullPrototype: true });
  fc.assert(
    fc.property(tile, (each) => {
      assert.deepEqual(parseTilePath(tilePath(each.level, each.index, each.width)), each);
    }),
  );
  const wrong = [
    'tile/00/000',
    'tile/64/000',
    'tile/0/x000/001',
    'tile/0/0001',
    'tile/0/001/002',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/entries/../000',
    'tile/-1/000',
  ];
  for (const path of wrong) assert.equal(parseTilePath(path), undefined, path);
});

test('entries are served each after its length in two bytes, big-endian', () => {
  const served = servedTile(ENTRIES_LEVEL, Buffer.alloc(64, 7));
  assert.equal(served.length, 68);
  assert.deepEqual([...served.subarray(0, 3)], [0, 32, 7]);
  assert.deepEqual([...served.subarray(34, 36)], [0, 32]);
});
