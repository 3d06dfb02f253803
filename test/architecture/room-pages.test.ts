// SPDX-License-Identifier: Apache-2.0
/** The README of each room fits a screen, and says what a newcomer needs first. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../../src');
/** A terminal of a laptop at its usual size shows about this many. */
const MAX_LINES = 50;
const LINES = ['In', 'Out', 'Never', 'Open first'];

const rooms = globSync('*/', { cwd: SRC }).sort();

function pageOf(room: string): string {
  return readFileSync(join(SRC, room, 'README.md'), 'utf8');
}

/** What a room is for: the lines between the heading and the list. */
function purposeOf(page: string): string {
  return (/^# .+\n\n([^]*?)\n\n- \*\*In\*\*/.exec(page)?.[1] ?? '').trim();
}

test('src has a page for each room', () => {
  assert.equal(rooms.length, 21);
  for (const room of rooms) assert.equal(pageOf(room).split('\n', 1)[0], `# ${room}`);
});

test(`the page of a room has at most ${MAX_LINES} lines`, () => {
  const long = rooms.filter((room) => pageOf(room).split('\n').length - 1 > MAX_LINES);
  assert.deepEqual(long, []);
});

for (const room of rooms) {
  test(`the page of ${room} has its purpose, what goes in and out, and never`, () => {
    const page = pageOf(room);
    assert.ok(purposeOf(page).length > 20, `${room}: no purpose above the list`);
    const listed = [...page.matchAll(/^- \*\*([^*]+)\*\*: \S/gm)].map(([, word = '']) => word);
    assert.deepEqual(
      listed.filter((word) => LINES.includes(word)),
      LINES,
    );
  });

  test(`the page of ${room} names the file to open first, which is there`, () => {
    const [, shown = '', target = ''] =
      /^- \*\*Open first\*\*: \[`([^`]+)`\]\(([^)]+)\)/m.exec(pageOf(room)) ?? [];
    assert.equal(shown, target);
    assert.ok(target.endsWith('.ts') && existsSync(join(SRC, room, target)), `${room}: ${target}`);
  });

  test(`the page of ${room} names each of its folders`, () => {
    const page = pageOf(room);
    const folders = globSync('*/', { cwd: join(SRC, room) });
    assert.deepEqual(
      folders.filter((folder) => !new RegExp(`[\`[]${folder}/?[\`\\]]`).test(page)),
      [],
    );
  });
}
