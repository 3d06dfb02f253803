// SPDX-License-Identifier: Apache-2.0
/** What clients that nobody knows can hold of a port. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, test } from 'node:test';
import { createApplication } from '#component/web/application.ts';
import { listening, timeoutsOf, type RunningServer } from '#component/web/server.ts';
import { createMetrics } from '#component/web/metric-registry.ts';

const LONG = 60_000;
/** More than the buffers of two sockets hold, and less than a string may. */
const LARGE_RESPONSE = 64 * 1024 * 1024;

const open: { server?: RunningServer; clients: Socket[] } = { clients: [] };
afterEach(async () => {
  for (const client of open.clients.splice(0)) client.destroy();
  await open.server?.close();
});

async function start(requestTimeoutMs: number, warnings: readonly string[] = []): Promise<Server> {
  const { registry } = createMetrics('signer', '1.2.3');
  const application = createApplication({
    registry,
    notReady: () => [],
    warnings: () => warnings,
  });
  const server = createServer(timeoutsOf(requestTimeoutMs), application);
  const init = { listen: '127.0.0.1:0', registry, notReady: () => [], requestTimeoutMs };
  open.server = await listening(server, init);
  return server;
}

/** @param localAddress - any of 127.0.0.0/8 is this machine */
async function client(localAddress: string): Promise<Socket> {
  const socket = connect({ port: open.server?.port ?? 0, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  open.clients.push(socket);
  await once(socket, 'connect');
  return socket;
}

test('silent clients do not keep a probe out, whatever their number', async () => {
  const server = await start(LONG);
  let held = 0;
  let most = 0;
  server.on('connection', (socket: Socket) => {
    held += 1;
    // The limit is enforced by a listener before this one.
    setImmediate(() => (most = Math.max(most, held)));
    socket.once('close', () => (held -= 1));
  });
  for (let each = 0; each < 600; each += 1) await client('127.0.0.2');
  const { status } = await fetch(`http://127.0.0.1:${open.server?.port ?? 0}/healthz`);
  assert.equal(status, 200);
  assert.ok(most >= 256 && most < 300, `${most} connections at once`);
});

test('an address that has many connections loses its own, not those of others', async () => {
  await start(LONG);
  const other = await client('127.0.0.3');
  for (let each = 0; each < 600; each += 1) await client('127.0.0.2');
  other.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.match(await text(other), /^HTTP\/1\.1 200 OK\r\n[^]*ok\n$/);
});

test('of many requests that are sent at once one is answered', async () => {
  await start(LONG);
  const socket = await client('127.0.0.2');
  socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  const answered = await text(socket);
  assert.equal(answered.match(/HTTP\/1\.1 200 OK/g)?.length, 1);
});

test('a client that waits for each response keeps its connection', async () => {
  const server = await start(LONG);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let each = 0; each < 20; each += 1) {
    const asked = get({ port: open.server?.port, host: '127.0.0.1', path: '/metrics', agent });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 200);
    await text(response);
  }
  agent.destroy();
  assert.equal(connections, 1);
});

test('a client that does not read its response is disconnected', { timeout: 20_000 }, async () => {
  const server = await start(200, ['x'.repeat(LARGE_RESPONSE)]);
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const socket = await client('127.0.0.2');
  const [atServer] = await connected;
  socket.pause();
  socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(atServer, 'close');
});
