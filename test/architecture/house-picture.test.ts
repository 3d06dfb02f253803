// SPDX-License-Identifier: Apache-2.0
/** The picture of CONTRIBUTING.md shows the imports of today. `make house-picture` writes it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { drawHouse, THEMES } from './house-picture/draw.ts';
import {
  arrowsOf,
  floorsOf,
  importsOfRooms,
  readRooms,
  type Imports,
} from './house-picture/floors.ts';
import { pictureOf } from './house-picture/main.ts';
import { readSource } from './sources.ts';

const ROOT = join(import.meta.dirname, '../..');

const imports = importsOfRooms();
const rooms = readRooms();

function importsOf(rows: Readonly<Record<string, readonly string[]>>): Imports {
  return new Map(Object.entries(rows).map(([room, targets]) => [room, new Set(targets)]));
}

for (const theme of THEMES)
  test(`the committed ${theme} picture is what the imports of src make`, () => {
    assert.equal(readFileSync(pictureOf(theme), 'utf8'), drawHouse(rooms, imports, theme));
  });

test('the picture has each room of src/README.md and no other', () => {
  assert.deepEqual([...imports.keys()].sort(), rooms.map(({ name }) => name).sort());
  const [, ...drawn] = drawHouse(rooms, imports, 'light').split('<text class="name"');
  assert.equal(drawn.length, rooms.length);
});

test('a room stands above every room that it imports from', () => {
  const floors = floorsOf(imports);
  const floorOf = (room: string): number => floors.findIndex((each) => each.includes(room));
  const order = rooms.map(({ name }) => name);
  for (const [room, targets] of imports)
    for (const target of targets) {
      assert.ok(floorOf(room) > floorOf(target), `${room} and ${target}: floors`);
      assert.ok(order.indexOf(room) > order.indexOf(target), `${room} and ${target}: table`);
    }
});

test('each import of a room is an arrow, or lies further along the arrows', () => {
  const next = Map.groupBy(arrowsOf(imports), ({ from }) => from);
  for (const [room, targets] of imports) {
    const reached = new Set([room]);
    for (const each of reached) for (const { to } of next.get(each) ?? []) reached.add(to);
    assert.deepEqual(
      [...targets].filter((target) => !reached.has(target)),
      [],
      room,
    );
  }
});

test('an arrow that follows from two others is left out', () => {
  const three = importsOf({ roof: ['floor', 'ground'], floor: ['ground'], ground: [] });
  assert.deepEqual(arrowsOf(three), [
    { from: 'roof', to: 'floor' },
    { from: 'floor', to: 'ground' },
  ]);
});

test('one more import changes the picture', () => {
  const more = new Map(imports).set('notify', new Set([...(imports.get('notify') ?? []), 'acme']));
  assert.notEqual(drawHouse(rooms, more, 'light'), drawHouse(rooms, imports, 'light'));
});

test('an import of a type, by await and by a relative path counts', () => {
  const file = (text: string): Imports => importsOfRooms([readSource('cli/x.ts', text)]);
  for (const text of ["import type { A } from '#kube/a.ts'", "await import('../kube/a.ts')"])
    assert.deepEqual([...(file(text).get('cli') ?? [])], ['kube'], text);
});

test('CONTRIBUTING.md shows the picture for light and for dark pages', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  for (const theme of THEMES)
    assert.ok(page.includes(`docs/pictures/${basename(pictureOf(theme))}`));
});

test('CONTRIBUTING.md fits a page and has ten habits', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  assert.ok(page.split('\n').length - 1 <= 80);
  const [, habits = ''] = /^## Ten habits\n([^]*?)^## /m.exec(page) ?? [];
  const numbers = [...habits.matchAll(/^(\d+)\. \*\*/gm)].map(([, digits]) => Number(digits));
  assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('the two pictures differ in colours only, and load nothing', () => {
  const [light = '', dark = ''] = THEMES.map((theme) => drawHouse(rooms, imports, theme));
  const without = (picture: string): string => picture.replaceAll(/#[0-9a-f]{6}/g, '#');
  assert.equal(without(light), without(dark));
  assert.notEqual(light, dark);
  assert.doesNotMatch(light, /href|@import|@font-face|url\((?!#)|<script|<image/);
});
