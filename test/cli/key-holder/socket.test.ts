// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listenOn } from '#cli/commands/key-holder/socket.ts';

test('no other user can connect before the socket has its mode, whatever the umask', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holder-socket-'));
  const path = join(folder, 's');
  const server = createServer();
  let first: number | undefined;
  server.once('listening', () => {
    first = statSync(path).mode & 0o777;
  });
  const umask = process.umask(0);
  try {
    await listenOn(server, path, 0o660);
    assert.equal(first, 0o600);
    assert.equal(statSync(path).mode & 0o777, 0o660);
    assert.equal(process.umask(0), 0);
  } finally {
    process.umask(umask);
    server.close();
    rmSync(folder, { recursive: true });
  }
});
