// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { printAtEnd } from '#cli/commands/install/print-at-end.ts';

const ENDLESS = `
  import { printAtEnd } from '#cli/commands/install/print-at-end.ts';
  setInterval(() => undefined, 1000);
  const endless = new Promise(() => undefined);
  await printAtEnd(() => console.log('deleted'), () => (console.log('runs'), endless));
`;

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`a command that ${signal} ends prints first what it did`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', ENDLESS], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (printed === '') child.kill(signal);
      printed += chunk.toString();
    });
    const [, endedBy] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    assert.equal(endedBy, signal);
    assert.equal(printed, 'runs\ndeleted\n');
  });

test('a command that fails prints what it did, and leaves no handler', async () => {
  const before = process.listenerCount('SIGINT');
  let printed = 0;
  const fails = printAtEnd(
    () => (printed += 1),
    () => Promise.reject(new Error('refused')),
  );
  await assert.rejects(fails, /refused/);
  assert.equal(printed, 1);
  assert.equal(process.listenerCount('SIGINT'), before);
});
