// SPDX-License-Identifier: Apache-2.0
/** A process builds the command that its first word names, and not the table of all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { program } from '#cli/program.ts';

const build = (word?: string): Command =>
  program('countersign', (code) => assert.fail(`it exits with ${code}`), word);
const helpOf = (command: Command): string =>
  [command, ...command.commands].map((each) => each.helpInformation()).join('\n');

test('a command built alone has the help of the same command among all', () => {
  const all = build().commands;
  assert.ok(all.length > 30);
  for (const command of all) {
    const name = command.name();
    const alone = build(name).commands;
    const found = alone.find((each) => each.name() === name);
    assert.ok(found, name);
    assert.equal(helpOf(found), helpOf(command), name);
    // Completion reads all commands.
    if (!/^(?:__|completion$)/.test(name))
      assert.ok(alone.length <= 3, `${name}: ${alone.length} commands`);
  }
});

test('any other word builds all commands, so that help and errors name each of them', () => {
  const all = build().commands.map((each) => each.name());
  for (const word of ['', 'help', '--help', 'aprover', '__complete', 'constructor'])
    assert.deepEqual(
      build(word).commands.map((each) => each.name()),
      all,
      word,
    );
});
