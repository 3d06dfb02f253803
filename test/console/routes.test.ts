// SPDX-License-Identifier: Apache-2.0
/** A console on a real port, with pages that read nothing. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildConsoleAssets } from '../../build/console-assets.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createConsoleRoutes } from '#console/server/application.ts';
import { HEADERS } from '#console/server/guard.ts';
import { clientUsers, type ClientConnection } from '#console/server/peer.ts';
import { ConsoleSession } from '#console/server/session.ts';
import { el } from '#console/views/element.ts';

let now = 0;
let error: Error | undefined;
let isOfOtherUser = (_: ClientConnection): boolean => false;
const session = new ConsoleSession({ random: randomBytes, monotonic: () => now });
let authority = '';
const server = createServer();
let assets: Awaited<ReturnType<typeof buildConsoleAssets>>;

before(async () => {
  assets = await buildConsoleAssets();
  const pages = {
    show: () => {
      if (error !== undefined) return Promise.reject(error);
      return Promise.resolve({ status: 200, title: 'Overview', content: el('p', {}, 'secret') });
    },
    now: () => 0,
    rules: { show: () => assert.fail(), judge: () => assert.fail() },
  };
  const routes = createConsoleRoutes({
    session,
    authority: () => authority,
    assets,
    isOfOtherUser: (connection) => isOfOtherUser(connection),
    pages,
    stream: () => Promise.resolve(),
  });
  server.on('request', routes);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  authority = `127.0.0.1:${address.port}`;
});
after(() => server.close());

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = request(`http://${authority}${path}`, { headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

let cookie = '';
const page = (): string => `/${session.prefix}/overview`;

test('nothing is shown without a session', async () => {
  for (const path of ['/', page(), `/${session.prefix}/stream`, '/overview']) {
    const { status, body } = await get(path);
    assert.ok(status === 401 || status === 404, path);
    assert.doesNotMatch(body, /secret<|main\.js/);
  }
});

const usersOf = (connection: ClientConnection): readonly number[] =>
  clientUsers(
    connection,
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFileSync(path, 'latin1')),
  );

test('another user who read the address in the list of processes opens no session', async () => {
  const found: unknown[] = [];
  isOfOtherUser = (connection) => {
    if (process.platform === 'linux') found.push(usersOf(connection));
    return true;
  };
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const sent = request({
      host,
      port: authority.split(':')[1],
      path: `/open/${session.secret}`,
      headers: { host: authority },
      agent: false,
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 403);
    assert.doesNotMatch(await text(response), /already/);
    assert.equal(response.headers['set-cookie'], undefined);
  }
  isOfOtherUser = () => false;
  if (process.platform === 'linux') {
    const own = process.getuid?.();
    assert.deepEqual(found, [[own], [own]]);
  }
});

test(
  'a connection from the same port to another loopback address is no client',
  { skip: process.platform !== 'linux' },
  async () => {
    const found: unknown[] = [];
    isOfOtherUser = (connection) => {
      found.push(usersOf(connection));
      return false;
    };
    const port = Number(authority.split(':')[1]);
    const second = createTcpServer().listen(port, '127.0.0.2');
    await once(second, 'listening');
    const decoy = connect({ host: '127.0.0.2', port, localAddress: '127.0.0.1', localPort: 0 });
    await once(decoy, 'connect');
    const { localPort } = decoy;
    const ends = { localAddress: '127.0.0.1', localPort, agent: false };
    const sent = request(`http://${authority}/`, ends).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await text(response);
    isOfOtherUser = () => false;
    decoy.destroy();
    second.close();
    assert.deepEqual(found, [[process.getuid?.()]]);
  },
);

test('the address opens a session once, and redirects away from the secret', async () => {
  const { status, headers } = await get(`/open/${session.secret}`);
  assert.equal(status, 303);
  assert.equal(headers.location, page());
  const [set = ''] = headers['set-cookie'] ?? [];
  assert.match(set, new RegExp(`; Path=/${session.prefix}; HttpOnly; SameSite=Strict$`));
  cookie = set.split(';', 1)[0] ?? '';
  assert.equal((await get(`/open/${session.secret}`)).status, 403);
});

test('the page has the policy, and no inline script or style', async () => {
  const { status, headers, body } = await get(page(), { cookie });
  assert.equal(status, 200);
  assert.equal(headers['content-security-policy'], HEADERS['content-security-policy']);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.match(body, /secret/);
  assert.doesNotMatch(body, /<style|style=|<script(?![^>]*src=)|\bon\w+=|https?:/);
});

test('a rejected request gets no page, whatever its cookie', async () => {
  for (const [headers, status] of [
    [{ host: 'evil.example' }, 421],
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
  ] as const) {
    const answer = await get(page(), { cookie, ...headers });
    assert.equal(answer.status, status);
    assert.doesNotMatch(answer.body, /secret/);
  }
});

const FAULTS: readonly [status: number, says: RegExp][] = [
  [0, /The API server does not answer/],
  [503, /The API server does not answer/],
  [401, /rejects your credentials/],
  [403, /You lack a permission/],
];
for (const [status, says] of FAULTS)
  test(`the API server's ${status} is shown with its fix`, async () => {
    const message = 'user "<b>" cannot list resource "signers"';
    error = new KubeError({ status, what: 'GET /x', body: { message }, cause: new Error(message) });
    const { body } = await get(page(), { cookie });
    error = undefined;
    assert.match(body, says);
    assert.match(body, /cannot list resource/);
    assert.doesNotMatch(body, /<b>/);
  });

test('the first page has at most 25 kB, and all files at most 120 kB, compressed', async () => {
  const size = (content: string): number => gzipSync(content).length;
  const { body } = await get(page(), { cookie });
  const files = size(assets.script) + size(assets.style);
  assert.ok(assets.script.length > 1_000 && assets.style.length > 1_000);
  assert.ok(size(body) + files <= 25_000, `${size(body) + files}`);
  assert.ok(files <= 120_000);
});

test('the session ends, and its cookie opens nothing more', async () => {
  now += 13 * 60 * 60_000;
  const { status, body } = await get(page(), { cookie });
  assert.equal(status, 401);
  assert.match(body, /The session has ended/);
});
