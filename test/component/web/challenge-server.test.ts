// SPDX-License-Identifier: Apache-2.0
/**
 * The port that the Internet asks for files of HTTP-01 (RFC 8555 §8.3): that path, and nothing
 * else.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { serveChallenges } from '#component/web/challenge-server.ts';
import type { RunningServer } from '#component/web/server.ts';

const KEY =
  'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI';
const TOKEN = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA';
const PATH = `/.well-known/acme-challenge/${TOKEN}`;

const open: { server?: RunningServer; clients: Socket[] } = { clients: [] };
const asked: { token: string; host: string }[] = [];
const statuses: number[] = [];
const known = { complete: true };

beforeEach(() => {
  asked.length = 0;
  statuses.length = 0;
  known.complete = true;
});
afterEach(async () => {
  for (const client of open.clients.splice(0)) client.destroy();
  await open.server?.close();
});

async function start(requestTimeoutMs = 60_000): Promise<void> {
  open.server = await serveChallenges({
    listen: '127.0.0.1:0',
    keyOf: (token, host) => {
      asked.push({ token, host });
      return token === TOKEN ? KEY : undefined;
    },
    isComplete: () => known.complete,
    onAnswered: (status) => statuses.push(status),
    requestTimeoutMs,
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = { host: 'a.example.com' },
): Promise<Answer> {
  const call = request({ port: open.server?.port, host: '127.0.0.1', method, path, headers });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: received } = response;
  return { status, headers: received, body: await text(response) };
}

/** What the port answers to these bytes, until it closes the connection. */
async function raw(bytes: string): Promise<string> {
  const socket = connect({ port: open.server?.port ?? 0, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  open.clients.push(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

test('a token that is presented is answered with its key authorization, byte by byte', async () => {
  await start();
  const { status, headers, body } = await ask('GET', PATH);
  assert.equal(status, 200);
  assert.equal(body, KEY);
  assert.equal(headers['content-type'], 'application/octet-stream');
  assert.equal(headers['content-length'], String(KEY.length));
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.deepEqual(statuses, [200]);
});

test('HEAD says the same without the content', async () => {
  await start();
  const { status, headers, body } = await ask('HEAD', PATH);
  assert.deepEqual([status, headers['content-length'], body], [200, String(KEY.length), '']);
});

for (const [header, host] of [
  ['a.example.com', 'a.example.com'],
  ['A.Example.COM:80', 'a.example.com'],
  ['[2001:db8::1]:80', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['192.0.2.1', '192.0.2.1'],
] as const) {
  test(`Host: ${header} is ${host}`, async () => {
    await start();
    await ask('GET', PATH, { host: header });
    assert.deepEqual(asked, [{ token: TOKEN, host }]);
  });
}

test('an unknown token gets 404, or 503 before the list is complete', async () => {
  await start();
  assert.equal((await ask('GET', '/.well-known/acme-challenge/other')).status, 404);
  known.complete = false;
  const { status, headers } = await ask('GET', '/.well-known/acme-challenge/other');
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  assert.equal((await ask('GET', PATH)).status, 200);
});

for (const path of [
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/.well-known/acme-challenge/',
  '/.well-known/acme-challenge',
  `${PATH}/`,
  `${PATH}/..`,
  `/.well-known/acme-challenge/../acme-challenge/${TOKEN}`,
  `//.well-known/acme-challenge/${TOKEN}`,
  `/.well-known/acme-challenge/%65vaGxf`,
  `/.well-known/acme-challenge/${'a'.repeat(256)}`,
  '/.well-known/acme-challenge/a.b',
  `http://a.example.com${PATH}`,
]) {
  test(`nothing is looked up for ${path.slice(0, 70)}`, async () => {
    await start();
    assert.equal((await ask('GET', path)).status, 404);
    assert.deepEqual(asked, []);
  });
}

for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
  test(`${method} is refused, and its body is not read`, async () => {
    await start();
    const answer = await ask(method, PATH, {
      host: 'a.example.com',
      'content-length': '1000000000',
    });
    assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD']);
    assert.equal(answer.headers.connection, 'close');
    assert.deepEqual(asked, []);
  });
}

test('a client that waits for "100 Continue" does not get one', async () => {
  await start();
  const answered = await raw(
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n`,
  );
  assert.match(answered, /^HTTP\/1\.1 405 /);
});

test('a body that never ends ends with its connection', async () => {
  await start();
  const answered = await raw(
    `GET ${PATH} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  assert.match(answered, /^HTTP\/1\.1 200 /);
});

test('headers of more than 8 KiB are refused', async () => {
  await start();
  const answered = await raw(`GET ${PATH} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(9_000)}\r\n\r\n`);
  assert.match(answered, /^HTTP\/1\.1 431 /);
  assert.deepEqual(asked, []);
});

test('a client that sends a byte now and then is disconnected', async () => {
  await start(200);
  assert.match(await raw(`GET ${PATH} HT`), /^(?:HTTP\/1\.1 408 |$)/);
});

test('two thousand silent clients do not keep a CA out', async () => {
  await start();
  for (let each = 0; each < 2_000; each += 1) {
    const socket = connect({
      port: open.server?.port ?? 0,
      host: '127.0.0.1',
      localAddress: '127.0.0.2',
    });
    socket.on('error', () => undefined);
    open.clients.push(socket);
    await once(socket, 'connect');
  }
  assert.equal((await ask('GET', PATH)).status, 200);
});
