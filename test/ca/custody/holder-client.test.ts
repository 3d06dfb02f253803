// SPDX-License-Identifier: Apache-2.0
/** The client of a key holder, against a holder whose answers break off. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignerError } from '#base/errors.ts';
import { createKeyHolder } from '#ca/custody/holder-client.ts';

const SIGNATURE = Buffer.from('a whole signature');

let folder = '';
let stop: () => void = () => undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holder-client-'));
});
afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});

/** Serves a holder whose first answer is broken off, and whose later ones are whole. */
async function breaking(cutOff: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  let requests = 0;
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-length': SIGNATURE.length });
    requests += 1;
    if (requests === 1) cutOff(stream);
    else stream.end(SIGNATURE);
  });
  const path = join(folder, 's');
  server.listen(path);
  await once(server, 'listening');
  stop = () => {
    server.close();
    for (const each of sockets) each.destroy();
  };
  return path;
}

const CUTS: readonly (readonly [what: string, cutOff: (stream: ServerHttp2Stream) => void])[] = [
  [
    'without a byte of it',
    ({ session }) => {
      setTimeout(() => session?.destroy(), 20);
    },
  ],
  [
    'after some bytes',
    (stream) => {
      stream.write(SIGNATURE.subarray(0, 3));
      setTimeout(() => stream.session?.destroy(), 20);
    },
  ],
];

for (const [what, cutOff] of CUTS) {
  test(`an answer that ends ${what} counts for nothing, and is requested again`, async () => {
    const client = createKeyHolder({
      socket: await breaking(cutOff),
      monotonic: () => performance.now(),
      delay: async () => {
        await sleep(5);
      },
    });
    try {
      assert.deepEqual(await client.sign('workload', 'leaf', Buffer.from('x')), SIGNATURE);
    } finally {
      client.stop();
    }
  });
}

test('a key whose token is away waits alone, and is reported when it is back', async () => {
  let isAway = true;
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    const isOfToken = headers[':path']?.includes('/in-token') === true;
    const body = JSON.stringify({ reason: 'token', message: 'token ca: CKR_DEVICE_REMOVED' });
    const answer = isAway && isOfToken ? Buffer.from(body) : SIGNATURE;
    const status = isAway && isOfToken ? 503 : 200;
    stream.respond({ ':status': status, 'content-length': answer.length });
    stream.end(answer);
  });
  const path = join(folder, 's');
  server.listen(path);
  await once(server, 'listening');
  stop = () => {
    server.close();
    for (const each of sockets) each.destroy();
  };
  const client = createKeyHolder({
    socket: path,
    monotonic: () => performance.now(),
    delay: async () => {
      await sleep(5);
    },
  });
  const told: (string | undefined)[] = [];
  const recovered = Promise.withResolvers<undefined>();
  client.onChange((fault) => {
    told.push(fault);
    if (fault === undefined) recovered.resolve(undefined);
  });
  const tbs = Buffer.from('x');
  const isReason = (error: unknown): boolean =>
    error instanceof SignerError &&
    error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE' &&
    error.disposition === 'authority' &&
    /cannot use the token of the key: token ca: CKR_DEVICE_REMOVED/.test(error.message);
  try {
    await assert.rejects(client.sign('in-token', 'leaf', tbs), isReason);
    // The next request does not wait for it, and another key signs meanwhile.
    await assert.rejects(client.sign('in-token', 'leaf', tbs), isReason);
    assert.deepEqual(await client.sign('in-file', 'leaf', tbs), SIGNATURE);
    assert.equal(await client.probe(), undefined);
    isAway = false;
    await recovered.promise;
    assert.deepEqual(await client.sign('in-token', 'leaf', tbs), SIGNATURE);
    assert.match(told[0] ?? '', /CKR_DEVICE_REMOVED/);
    assert.deepEqual(told.slice(1), [undefined]);
  } finally {
    client.stop();
  }
});
