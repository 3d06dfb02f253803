// SPDX-License-Identifier: Apache-2.0
/** What a key holder accepts of the process of a token: a real process, which a module controls. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { startTokenChild } from '#cli/commands/key-holder/token/child.ts';
import { TokenFault } from '#cli/commands/key-holder/token/orders.ts';

let folder = '';
const program = process.argv[1] ?? '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'token-child-'));
  // A process of a token runs the program of its holder.
  process.argv[1] = join(folder, 'program.mjs');
});
afterEach(() => {
  process.argv[1] = program;
  rmSync(folder, { recursive: true });
});

const MESSAGES: readonly string[] = [
  'null',
  '1',
  '{}',
  '{ id: "1" }',
  '{ id: 1, fault: {}, scope: "key" }',
  '{ id: 1, fault: "text", scope: "other" }',
];

for (const message of MESSAGES) {
  test(`a process that answers ${message} is killed, and its holder lives`, async () => {
    const answer = `process.on('message', () => process.send(${message}));`;
    writeFileSync(join(folder, 'program.mjs'), answer);
    const child = startTokenChild();
    await assert.rejects(
      child.order({ op: 'look' }, 60_000),
      (error) => error instanceof TokenFault && /sent an invalid answer/.test(error.message),
    );
    assert.match(await child.ended, /sent an invalid answer/);
  });
}
