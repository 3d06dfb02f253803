// SPDX-License-Identifier: Apache-2.0
/** A bundle endpoint that means ill: what an answer may be, and where a look may lead. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fetchBundle, type FetchResult } from '#trust/federation/fetch.ts';
import { connectGuard, type ConnectGuard } from '#base/egress/connect-guard.ts';
import { readEgressProxy } from '#base/egress/egress-proxy.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { startProxy, type TestProxy } from '../../support/egress/proxy.ts';
import { keyOf, pemOf, spiffeCa, svidOf } from '../../support/trust/certificates.ts';

const ROOT = spiffeCa('root');
const LEAF = svidOf(ROOT, 'spiffe://a.example/endpoint');
const WHOM = { called: 'bundle endpoints', flag: '--federation-network' };
const HERE = connectGuard([parseNetwork('127.0.0.0/8'), parseNetwork('::1')], WHOM);
const never = new AbortController().signal;

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let asked = 0;

before(async () => {
  server = createServer({ cert: pemOf(LEAF), key: keyOf(LEAF) }, (request, response) => {
    asked += 1;
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  server.closeAllConnections();
  server.close();
});

function urlOf(host = 'localhost'): string {
  return `https://${host}:${(server.address() as AddressInfo).port}/`;
}

function fetched(url = urlOf(), guard = HERE, totalMs = 60_000): Promise<FetchResult> {
  const domain = { trustDomain: 'a.example', profile: 'https_web', url } as const;
  return fetchBundle(domain, pemOf(ROOT), { guard, signal: never, totalMs });
}

async function problem(...args: Parameters<typeof fetched>): Promise<string> {
  const found = await fetched(...args);
  assert.ok('problem' in found, JSON.stringify(found).slice(0, 100));
  return found.problem;
}

test('the body of an answer is its text', async () => {
  answer = (_, response) => response.end('{"keys":[]}');
  assert.deepEqual(await fetched(), { text: '{"keys":[]}' });
});

test('a body without an end is given up at a MiB', async () => {
  answer = (_, response) => {
    const more = (): void => {
      if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more));
    };
    more();
  };
  assert.match(await problem(), /longer than 1048576 bytes/);
});

test('an answer that trickles is given up at the deadline, in its head or its body', async () => {
  answer = () => undefined;
  assert.match(await problem(urlOf(), HERE, 200), /no complete answer within 0\.2 s/);
  answer = (_, response) => response.write('{');
  assert.match(await problem(urlOf(), HERE, 200), /no complete answer within 0\.2 s/);
});

test('a server that does not speak TLS is given up at the deadline', async () => {
  const { createServer: createPlain } = await import('node:net');
  const silent = createPlain();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  assert.match(await problem(`https://localhost:${port}/`, HERE, 200), /no complete answer within/);
  silent.close();
});

for (const status of [301, 302, 307, 308])
  test(`a redirect (${status}) is not followed, and the message says what to do`, async () => {
    const before = asked;
    answer = (_, response) => response.writeHead(status, { location: urlOf() }).end();
    assert.match(await problem(), new RegExp(`answered ${status}; redirects are not followed`));
    assert.equal(asked, before + 1);
  });

for (const status of [204, 206, 404, 500])
  test(`an answer of ${status} is none`, async () => {
    answer = (_, response) => response.writeHead(status).end(status === 204 ? '' : '{"keys":[]}');
    assert.match(await problem(), new RegExp(`answered ${status}`));
  });

test('a server that switches protocols gives no answer', async () => {
  answer = ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  };
  assert.match(await problem(), /closed without an answer/);
});

test('nothing is unpacked', async () => {
  answer = (request, response) => {
    assert.equal(request.headers['accept-encoding'], 'identity');
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
  };
  assert.match(await problem(), /content encoding "gzip", which was not requested/);
});

test('what is no UTF-8, and a body that ends too early, are no answer', async () => {
  answer = (_, response) => response.end(Buffer.from([0x7b, 0xff, 0x7d]));
  assert.match(await problem(), /not UTF-8/);
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"keys":[]}', () => response.destroy());
  };
  assert.match(await problem(), /aborted|reset|hang up/);
});

test('a head without an end is given up', async () => {
  answer = (_, response) => {
    response.setHeader('x-long', 'x'.repeat(20_000));
    response.end('{}');
  };
  assert.match(await problem(), /header|parse/i);
});

test('the client does not connect to loopback, by name or by address', async () => {
  const before = asked;
  const guard = connectGuard([], WHOM);
  answer = (_, response) => response.end('{"keys":[]}');
  assert.match(
    await problem(urlOf(), guard),
    /loopback interface, which bundle endpoints may be in only.*--federation-network/,
  );
  for (const host of ['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])
    assert.match(await problem(urlOf(host), guard), /loopback/, host);
  for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:a9fe:a9fe]'])
    assert.match(await problem(`https://${host}/`, guard), /link-local/, host);
  assert.match(await problem('https://10.96.0.1/', guard), /private network/);
  assert.equal(asked, before);
});

test('the server is verified whatever the environment says', async () => {
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  answer = (_, response) => response.end('{"keys":[]}');
  const domain = { trustDomain: 'a.example', profile: 'https_web', url: urlOf() } as const;
  const found = await fetchBundle(domain, pemOf(spiffeCa('other')), { guard: HERE, signal: never });
  if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  assert.ok('problem' in found);
});

/** A guard for which each name is this address. */
function resolving(address: string): ConnectGuard {
  const { refusalOf, lookup } = connectGuard([], WHOM);
  return {
    refusalOf,
    lookup: (_name, options, callback) => {
      if (refusalOf(address) === undefined) callback(null, address, 4);
      else lookup(address, options, callback);
    },
  };
}

/** Fetches the bundle of a server that only a proxy reaches. */
async function fetchedBy(
  proxy: TestProxy,
  guard: ConnectGuard,
  endpointId = 'spiffe://a.example/endpoint',
): Promise<FetchResult> {
  const url = 'https://bundle.example/';
  const domain = { trustDomain: 'a.example', profile: 'https_spiffe', endpointId, url } as const;
  const by = readEgressProxy({ HTTPS_PROXY: proxy.url });
  return fetchBundle(domain, pemOf(ROOT), { guard, proxy: by, signal: never });
}

test('a bundle comes through the proxy, from an address that passed and the right ID', async () => {
  const proxy = await startProxy((server.address() as AddressInfo).port);
  answer = (_, response) => response.end('{"keys":[]}');
  try {
    assert.deepEqual(await fetchedBy(proxy, resolving('8.8.8.8')), { text: '{"keys":[]}' });
    const other = await fetchedBy(proxy, resolving('8.8.8.8'), 'spiffe://a.example/other');
    assert.match('problem' in other ? other.problem : '', /spiffe:\/\/a\.example\/other/);
    const inside = await fetchedBy(proxy, resolving('10.0.0.7'));
    assert.match('problem' in inside ? inside.problem : '', /a private network/);
    assert.deepEqual(
      proxy.requests.map(({ url }) => url),
      ['8.8.8.8:443', '8.8.8.8:443'],
    );
  } finally {
    await proxy.stop();
  }
});

test('a file of CAs without a CA makes the client trust no server', async () => {
  answer = (_, response) => response.end('{"keys":[]}');
  const domain = { trustDomain: 'a.example', profile: 'https_web', url: urlOf() } as const;
  for (const text of ['', 'no PEM'])
    assert.ok('problem' in (await fetchBundle(domain, text, { guard: HERE, signal: never })));
});
