// SPDX-License-Identifier: Apache-2.0
/** Calls through a forward proxy: what it learns, and what it cannot be made to reach. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { connectGuard, type ConnectGuard } from '#base/egress/connect-guard.ts';
import { readEgressProxy } from '#base/egress/egress-proxy.ts';
import { CALL_LIMITS, createExchange, type CallLimits } from '#base/egress/exchange.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { startProxy, type TestProxy } from '../../support/egress/proxy.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const NAME = 'acme.example';
let ca: string;
const server = createServer((_request, response) => response.end('of the server'));
let proxy: TestProxy;

before(async () => {
  const certificate = await tlsCertificate('server', {
    dnsNames: [NAME, 'localtest.example'],
    addresses: ['198.51.100.7', '10.0.0.7', '8.8.8.8', '2606:4700::1111'],
  });
  ca = certificate.cert;
  server.setSecureContext(certificate);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(async () => {
  proxy = await startProxy((server.address() as AddressInfo).port);
});
afterEach(() => proxy.stop());
after(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

interface Call {
  readonly guard?: ConnectGuard;
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits?: Partial<CallLimits>;
}

/** Calls a URL through the proxy. Returns the body, or why there is none. */
async function call(
  url: string,
  { guard, environment = {}, limits = {} }: Call = {},
): Promise<string | NoAnswer> {
  const exchange = createExchange({
    ca,
    userAgent: 'test',
    limits: { ...CALL_LIMITS, ...limits },
    guard,
    proxy: readEgressProxy({ HTTPS_PROXY: proxy.url, ...environment }),
  });
  try {
    const answer = await exchange.send({ method: 'GET', url });
    return 'kind' in answer ? answer : answer.body.toString();
  } finally {
    await exchange.close();
  }
}

async function failure(...args: Parameters<typeof call>): Promise<NoAnswer> {
  const answer = await call(...args);
  assert.ok(typeof answer !== 'string', 'there is an answer');
  return answer;
}

const targets = (): readonly (string | undefined)[] => proxy.requests.map(({ url }) => url);

const WORDS = { called: 'servers', flag: '--network' };

/** A guard whose lookup finds these addresses. */
function resolving(...addresses: readonly string[]): ConnectGuard {
  const guard = connectGuard([], WORDS);
  return {
    refusalOf: guard.refusalOf,
    lookup: (hostname, options, callback) => {
      const fine = addresses.filter((each) => guard.refusalOf(each) === undefined);
      const [first] = fine;
      if (first !== undefined) callback(null, first, first.includes(':') ? 6 : 4);
      // The guard's own words for an address that it refuses.
      else guard.lookup(addresses[0] ?? hostname, options, callback);
    },
  };
}

test('without a guard the proxy resolves the name, which need not resolve here', async () => {
  assert.equal(await call(`https://${NAME}/directory`), 'of the server');
  assert.deepEqual(targets(), [`${NAME}:443`]);
});

test('with a guard the proxy gets an address that passed, and never the name', async () => {
  const guard = resolving('10.0.0.7', '8.8.8.8');
  assert.equal(await call(`https://${NAME}:8443/`, { guard }), 'of the server');
  assert.deepEqual(targets(), ['8.8.8.8:8443']);
});

test('an IPv6 address is in brackets in CONNECT', async () => {
  assert.equal(
    await call('https://[2606:4700::1111]/', { guard: connectGuard([], WORDS) }),
    'of the server',
  );
  assert.deepEqual(targets(), ['[2606:4700::1111]:443']);
});

for (const [what, url, guard] of [
  ['an address', 'https://10.0.0.7/', connectGuard([], WORDS)],
  ['another spelling of it', 'https://0x0a.7/', connectGuard([], WORDS)],
  ['an address of IPv6', 'https://[fd00::1]/', connectGuard([], WORDS)],
  ['a name', `https://${NAME}/`, resolving('10.0.0.7')],
] as const)
  test(`a guarded call reaches no address inside by the proxy: ${what}`, async () => {
    const { cause, detail } = await failure(url, { guard });
    assert.equal(cause, 'unreachable');
    assert.match(detail, /may be in only where an administrator allows the network/);
    assert.deepEqual(targets(), []);
  });

test('a guarded call reaches a network that an administrator allows by the proxy', async () => {
  const guard = connectGuard([parseNetwork('10.0.0.0/8')], WORDS);
  assert.equal(await call('https://10.0.0.7/', { guard }), 'of the server');
});

test('a server’s certificate is verified for its own name, not the proxy’s', async () => {
  const { cause, detail } = await failure('https://other.example/');
  assert.equal(cause, 'unreachable');
  assert.match(detail, /other\.example\. is not in the cert's altnames/);
});

test('what NO_PROXY names is called directly', async () => {
  const { port } = server.address() as AddressInfo;
  assert.equal(await call(`https://127.0.0.1:${port}/`), 'of the server');
  assert.deepEqual(targets(), []);
  const direct = await failure('https://10.0.0.7/', {
    environment: { NO_PROXY: '10.0.0.0/8' },
    guard: connectGuard([], WORDS),
  });
  assert.match(direct.detail, /a private network/);
});

test('the proxy gets the credentials of its URL, and no error shows them', async () => {
  const environment = { HTTPS_PROXY: proxy.url.replace('//', '//me:hidden@') };
  proxy.always((_request, client) => {
    client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  const { cause, detail, mayHaveArrived } = await failure(`https://${NAME}/`, { environment });
  assert.deepEqual([cause, mayHaveArrived], ['unreachable', false]);
  assert.match(detail, /the proxy http:\/\/127\.0\.0\.1:\d+: .*credentials of HTTPS_PROXY \(407\)/);
  const sent = proxy.requests[0]?.headers['proxy-authorization'] ?? '';
  assert.equal(Buffer.from(sent.replace('Basic ', ''), 'base64').toString(), 'me:hidden');
  assert.doesNotMatch(detail, /hidden|aGlkZGVu|bWU6/);
});

test('a proxy that refuses the target is named, with its status', async () => {
  proxy.always((_request, client) => {
    client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nhidden');
  });
  const { cause, detail } = await failure(`https://${NAME}/`);
  assert.equal(cause, 'unreachable');
  assert.match(detail, /does not connect to acme\.example:443 \(403\)/);
});

test('a proxy that cuts the connection, or is not there, is named', async () => {
  proxy.always((_request, client) => client.destroy());
  assert.match((await failure(`https://${NAME}/`)).detail, /the proxy http:\/\/127\.0\.0\.1/);
  const unused = createSocketServer();
  unused.listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const { port } = unused.address() as AddressInfo;
  unused.close();
  await once(unused, 'close');
  const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
  const { cause, detail } = await failure(`https://${NAME}/`, { environment });
  assert.equal(cause, 'unreachable');
  assert.match(detail, /the proxy .*ECONNREFUSED/);
});

for (const [what, answer] of [
  ['CONNECT', ''],
  ['the TLS handshake', 'HTTP/1.1 200 OK\r\n\r\n'],
])
  test(`a proxy that hangs is given up at the limit of a connection, in ${what}`, async () => {
    proxy.always((_request, client) => void client.write(answer));
    const { cause, detail } = await failure(`https://${NAME}/`, { limits: { connectMs: 200 } });
    assert.equal(cause, 'unreachable');
    assert.match(detail, /no connection through it in time/);
  });
