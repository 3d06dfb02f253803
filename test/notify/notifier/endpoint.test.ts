// SPDX-License-Identifier: Apache-2.0
/**
 * What one call does with a target that is not what it should be: nothing leaves unsigned, or to
 * somewhere else.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createExchange, type CallLimits, type Exchange } from '#base/egress/exchange.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { endpoint, TARGET_LIMITS } from '#notify/notifier/delivery/endpoint.ts';
import type { CallVerdict } from '#notify/notifier/delivery/verdict.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const EVENT = { id: 'u-1:denied', body: '{"specversion":"1.0"}' };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let tls: ServerOptions & { readonly cert: string };
let answer: Answer;
/** What arrived. */
const calls: IncomingMessage[] = [];
const server = createServer((request, response) => {
  calls.push(request);
  answer(request, response);
});
let port: number;
const exchanges: Exchange[] = [];

before(async () => {
  tls = await tlsCertificate('target');
  server.setSecureContext(tls);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

after(async () => {
  await Promise.all(exchanges.map((each) => each.close()));
  server.closeAllConnections();
  server.close();
});

interface Call {
  readonly host?: string;
  readonly ca?: string | undefined;
  readonly networks?: readonly string[];
  readonly secret?: string;
  readonly limits?: Partial<CallLimits>;
  readonly id?: string;
}

/** One call as notifier makes it, to a target that answers so. */
async function posted(by: Answer, call: Call = {}): Promise<CallVerdict> {
  const { host = '127.0.0.1', networks = ['127.0.0.0/8'], secret = SECRET, id = EVENT.id } = call;
  answer = by;
  calls.length = 0;
  const exchange = createExchange({
    ca: 'ca' in call ? call.ca : tls.cert,
    userAgent: 'test',
    limits: { ...TARGET_LIMITS, ...call.limits },
    guard: connectGuard(networks.map(parseNetwork), { called: 'targets', flag: '--flag' }),
    proxy: undefined,
  });
  exchanges.push(exchange);
  const url = new URL(`https://${host}:${port}/x?y=1`);
  const readSecret = (): Promise<string> => Promise.resolve(secret);
  return endpoint({ url, exchange, clock: Date.now, readSecret }).post({ ...EVENT, id });
}

const whyOf = (verdict: CallVerdict): string => {
  assert.equal(verdict.kind, 'later');
  return 'why' in verdict ? verdict.why : '';
};

const ok: Answer = (_request, response) => {
  response.writeHead(204).end();
};

test('sends nothing to a target with an unknown CA, whatever the environment says', async () => {
  assert.equal((await posted(ok)).kind, 'delivered');
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    assert.match(whyOf(await posted(ok, { ca: undefined })), /cannot be reached/);
    assert.equal(calls.length, 0);
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  }
});

test('no proxy of the environment is told', async () => {
  const seen: string[] = [];
  const proxy = createPlainServer((request) => seen.push(request.url ?? ''));
  proxy.on('connect', (request, socket) => {
    seen.push(request.url ?? '');
    socket.destroy();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : url;
  try {
    assert.equal((await posted(ok)).kind, 'delivered');
    assert.deepEqual(seen, []);
  } finally {
    for (const name of names) Reflect.deleteProperty(process.env, name);
    proxy.close();
  }
});

for (const [host, what] of [
  ['127.0.0.1', 'an address'],
  ['0x7f.1', 'another spelling of it'],
  ['[::ffff:127.0.0.1]', 'an address within another'],
  ['localhost', 'a name that leads to one'],
] as const)
  test(`${what} outside the Internet is not called unless listed: ${host}`, async () => {
    const why = whyOf(await posted(ok, { host, networks: [] }));
    assert.match(why, /may be in only where an administrator allows the network \(--flag\)/);
    assert.equal(calls.length, 0);
  });

test('a redirect is not followed', async () => {
  const verdict = await posted((_request, response) => {
    response.writeHead(307, { location: `https://127.0.0.1:${port}/elsewhere` }).end();
  });
  assert.match(whyOf(verdict), /redirects/);
  assert.deepEqual(
    calls.map(({ url }) => url),
    ['/x?y=1'],
  );
});

test('an answer of any length is a status, and no more of it is read than the limit', async () => {
  let written = 0;
  const verdict = await posted((_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      written += chunk.length;
      // 1 GiB, unless the other side ends it.
      if (written < 2 ** 30 && !response.destroyed) response.write(chunk, more);
    };
    more();
  });
  assert.deepEqual(verdict, { kind: 'delivered' });
  assert.ok(written < 64 * 1024 * 1024, String(written));
});

test('a target that never ends its answer has given it; one that never answers has not', async () => {
  // The answer has to begin within it.
  const limits = { totalMs: 3_000 };
  const drip: Answer = (_request, response) => {
    response.writeHead(410).write('x');
  };
  assert.deepEqual(await posted(drip, { limits }), { kind: 'gone' });
  const never = await posted(() => undefined, { limits: { totalMs: 300 } });
  assert.match(whyOf(never), /no answer within 0\.3 s/);
});

test('what a target says is cut, on one line, and without hidden characters', async () => {
  const verdict = await posted((_request, response) => {
    response.writeHead(500).end(`\u001b[31m\u202egone\r\n${'x'.repeat(10_000)}`);
  });
  const why = whyOf(verdict);
  assert.doesNotMatch(why, /\p{C}/u);
  assert.ok(why.length < 300, why);
});

for (const [what, secret] of [
  ['none', ''],
  ['a prefix alone', 'whsec_'],
  ['no base64', 'whsec_!!!!'],
  ['one that can be guessed', 'hunter2'],
  ['a strong one beside one that can be guessed', `${SECRET}\nhunter2\n`],
] as const)
  test(`nothing is sent that others could have signed: the secret is ${what}`, async () => {
    const why = whyOf(await posted(ok, { secret }));
    assert.equal(calls.length, 0);
    assert.ok(!why.includes('hunter2') && !why.includes(SECRET), why);
  });

test('an id that would begin a header of its own is not sent', async () => {
  assert.equal((await posted(ok, { id: 'u\r\nx-admin: 1' })).kind, 'later');
  assert.equal(calls.length, 0);
});
