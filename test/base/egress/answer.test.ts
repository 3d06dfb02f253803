// SPDX-License-Identifier: Apache-2.0
/** What a request ends in: an answer or an error, whatever the server does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { answerTo } from '#base/egress/answer.ts';

let server: Server;
let served: (socket: Socket) => void;
let asked = '';

before(async () => {
  server = createServer((socket) => {
    // The other side ends some connections before they are read.
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      asked = chunk.toString();
      served(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  server.close();
});

function ask(body?: string): ReturnType<typeof answerTo> {
  const { port } = server.address() as AddressInfo;
  const options = { method: 'POST', agent: false, signal: AbortSignal.timeout(30_000) };
  return answerTo(request(`http://127.0.0.1:${port}/`, options), body);
}

test('an answer is there as soon as its head is', async () => {
  served = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
  };
  const response = await ask();
  assert.equal(response.statusCode, 200);
  response.destroy();
});

test('the body of a request is sent', async () => {
  served = (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody');
  };
  const response = await ask('asked');
  assert.deepEqual(await response.toArray(), [Buffer.from('body')]);
  assert.match(asked, /\r\n\r\nasked$/);
});

test('an answer that goes on with another protocol is none (RFC 9110 §15.2.2)', async () => {
  served = (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  };
  await assert.rejects(ask(), /^Error: the connection was closed without an answer$/);
});

test('a connection that is cut before an answer is an error', async () => {
  served = (socket) => {
    socket.destroy();
  };
  await assert.rejects(ask(), /hang up/);
});

test('a connection cut within the body is an error of the answer, not of the process', async () => {
  served = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo', () => socket.destroy());
  };
  const response = await ask();
  await assert.rejects(response.toArray(), /aborted/);
});
