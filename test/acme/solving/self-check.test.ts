// SPDX-License-Identifier: Apache-2.0
/**
 * The self-check of HTTP-01, against real servers at addresses of 127.0.0.0/8: what a CA would see,
 * and nothing else.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import type { AskDns } from '#acme/solving/dns/client.ts';
import { createSelfCheck } from '#acme/solving/index.ts';
import { checkHttp01 } from '#acme/solving/http/self-check.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { openHttp } from './solver-context.ts';
import { until } from '../../cluster/until.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const FILE = { dnsName: 'a.example.com', token: 'tok-1', key: 'tok-1.thumb' };
const WAIT_INSTEAD =
  '; if the CA reaches it, set selfCheck.waitInstead of the solver, which replaces this check';
const LOOPBACK = [parseNetwork('127.0.0.0/16'), parseNetwork('::1')];

interface Seen {
  readonly address: string;
  readonly host: string | undefined;
  readonly url: string | undefined;
  readonly headers: readonly string[];
}

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** One port at several addresses, as the port 80 of several hosts. */
async function serve(
  answers: Readonly<Record<string, RequestListener>>,
): Promise<{ readonly port: number; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  let port = 0;
  for (const [address, answer] of Object.entries(answers)) {
    const server = createServer((request, response) => {
      const { host } = request.headers;
      seen.push({ address, host, url: request.url, headers: Object.keys(request.headers) });
      answer(request, response);
    });
    server.listen(port, address);
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    open.push(server);
  }
  return { port, seen };
}

const file: RequestListener = (_request, response) => void response.end(`${FILE.key}\n`);
const to =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

async function check(
  names: Readonly<Record<string, readonly string[]>>,
  port: number,
  more: Partial<Parameters<typeof checkHttp01>[1]> = {},
): Promise<string | undefined> {
  return checkHttp01(FILE, {
    resolve: (name) => {
      const found = names[name];
      return found === undefined ? Promise.reject(new Error('SERVFAIL')) : Promise.resolve(found);
    },
    allowed: LOOPBACK,
    ports: { http: port, https: port },
    ...more,
  });
}

test('it passes where every address serves the file; white space at its end is ignored', async () => {
  const { port, seen } = await serve({ '127.0.0.1': file, '127.0.0.2': file });
  assert.equal(await check({ 'a.example.com': ['127.0.0.1', '127.0.0.2'] }, port), undefined);
  assert.deepEqual(
    new Set(seen.map(({ address }) => address)),
    new Set(['127.0.0.1', '127.0.0.2']),
  );
  for (const { host, url, headers } of seen) {
    assert.equal(host, 'a.example.com');
    assert.equal(url, '/.well-known/acme-challenge/tok-1');
    assert.ok(!headers.includes('cookie') && !headers.includes('authorization'));
  }
});

test('one address that does not serve it is named, with what it answered', async () => {
  const missing: RequestListener = (_request, response) => void response.writeHead(404).end();
  const { port } = await serve({ '127.0.0.1': file, '127.0.0.2': missing });
  assert.equal(
    await check({ 'a.example.com': ['127.0.0.1', '127.0.0.2'] }, port),
    'the file is not there: 127.0.0.2 of "a.example.com" answered 404',
  );
});

test('another content is a problem, and none of it is repeated', async () => {
  const secret: RequestListener = (_request, response) => void response.end('aws-secret-key');
  const { port } = await serve({ '127.0.0.1': secret });
  const problem = await check({ 'a.example.com': ['127.0.0.1'] }, port);
  assert.equal(
    problem,
    'the file is not there: 127.0.0.1 of "a.example.com" answered 200 with another content',
  );
});

test('an answer without an end is cut', async () => {
  const endless: RequestListener = (_request, response) => {
    const more = (): void => {
      if (!response.destroyed && response.write(Buffer.alloc(65_536))) setImmediate(more);
    };
    response.on('drain', more);
    more();
  };
  const { port } = await serve({ '127.0.0.1': endless });
  assert.match(
    (await check({ 'a.example.com': ['127.0.0.1'] }, port)) ?? '',
    /more than 2048 bytes/,
  );
});

test('headers without an end are cut', async () => {
  const long: RequestListener = (_request, response) =>
    void response.setHeader('x', 'x'.repeat(64 * 1024)).end(FILE.key);
  const { port } = await serve({ '127.0.0.1': long });
  assert.match((await check({ 'a.example.com': ['127.0.0.1'] }, port)) ?? '', /cannot be reached/);
});

test('the loopback interface is not asked unless it is allowed', async () => {
  const { port, seen } = await serve({ '127.0.0.1': file });
  const problem = await check({ 'a.example.com': ['127.0.0.1'] }, port, { allowed: [] });
  assert.match(problem ?? '', /"a\.example\.com" has no address that may be called/);
  assert.equal(seen.length, 0);
});

test('a redirect to an address that is not allowed is not followed', async () => {
  const { port, seen } = await serve({
    '127.0.0.1': to('http://127.1.0.1/metadata'),
    '127.1.0.1': file,
  });
  const problem = await check({ 'a.example.com': ['127.0.0.1'] }, port);
  assert.match(problem ?? '', /"127\.1\.0\.1" has no address that may be called/);
  assert.deepEqual(
    seen.map(({ address }) => address),
    ['127.0.0.1'],
  );
});

test('the self-check follows no redirect to a name with a forbidden address', async () => {
  const { port, seen } = await serve({
    '127.0.0.1': to('http://b.example.com/x'),
    '127.1.0.1': file,
  });
  const names = { 'a.example.com': ['127.0.0.1'], 'b.example.com': ['::ffff:127.1.0.1'] };
  assert.match(
    (await check(names, port)) ?? '',
    /"b\.example\.com" has no address that may be called/,
  );
  assert.deepEqual(
    seen.map(({ address }) => address),
    ['127.0.0.1'],
  );
});

test('the self-check connects to the checked address even if DNS changes', async () => {
  const { port, seen } = await serve({ '127.0.0.1': file, '127.1.0.1': file });
  const answers = [['127.0.0.1'], ['127.1.0.1']];
  const problem = await check({}, port, {
    resolve: () => Promise.resolve(answers.shift() ?? ['127.1.0.1']),
  });
  assert.equal(problem, undefined);
  assert.deepEqual(
    seen.map(({ address }) => address),
    ['127.0.0.1'],
  );
});

test('ten redirects are followed, eleven are not', async () => {
  const hops =
    (count: number): RequestListener =>
    (request, response) => {
      const hop = Number(/hop(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
      if (hop === count) response.end(FILE.key);
      else response.writeHead(301, { location: `/hop${hop + 1}` }).end();
    };
  const ten = await serve({ '127.0.0.1': hops(10) });
  assert.equal(await check({ 'a.example.com': ['127.0.0.1'] }, ten.port), undefined);
  const eleven = await serve({ '127.0.0.1': hops(11) });
  assert.match(
    (await check({ 'a.example.com': ['127.0.0.1'] }, eleven.port)) ?? '',
    /more than 10 redirects/,
  );
});

test('a redirect in a circle ends', async () => {
  const { port } = await serve({
    '127.0.0.1': to('http://a.example.com/.well-known/acme-challenge/tok-1'),
  });
  assert.match((await check({ 'a.example.com': ['127.0.0.1'] }, port)) ?? '', /in a circle/);
});

test('every address of a name that a redirect leads to is asked', async () => {
  const missing: RequestListener = (_request, response) => void response.writeHead(503).end();
  const { port } = await serve({
    '127.0.0.1': to('http://b.example.com/x?y=1#z'),
    '127.0.0.2': file,
    '127.0.0.3': missing,
  });
  const names = { 'a.example.com': ['127.0.0.1'], 'b.example.com': ['127.0.0.2', '127.0.0.3'] };
  assert.equal(
    await check(names, port),
    'the file is not there: 127.0.0.3 of "b.example.com" answered 503',
  );
});

for (const location of [
  'ftp://a.example.com/',
  'http://a.example.com:8080/',
  'https://a.example.com:80/',
  'http://user:password@a.example.com/',
  'file:///etc/passwd',
  `/${'x'.repeat(3000)}`,
]) {
  test(`no redirect to ${location.slice(0, 40)}`, async () => {
    const { port, seen } = await serve({ '127.0.0.1': to(location) });
    assert.match(
      (await check({ 'a.example.com': ['127.0.0.1'] }, port)) ?? '',
      /redirects to another scheme, port or user, which is not followed$/,
    );
    assert.equal(seen.length, 1);
  });
}

test('over https the self-check ignores the certificate, as CAs do, and sends SNI', async () => {
  const { cert, key } = await tlsCertificate('somebody-else.example.org');
  const names: unknown[] = [];
  const server = createTlsServer(
    { cert, key },
    (_request, response) => void response.end(FILE.key),
  );
  server.on('secureConnection', ({ servername }) => names.push(servername));
  server.listen(0, '127.0.0.9');
  await once(server, 'listening');
  open.push(server);
  const https = (server.address() as AddressInfo).port;
  const { port } = await serve({ '127.0.0.1': to('https://b.example.com/x') });
  const problem = await check(
    { 'a.example.com': ['127.0.0.1'], 'b.example.com': ['127.0.0.9'] },
    port,
    { ports: { http: port, https } },
  );
  assert.equal(problem, undefined);
  assert.deepEqual(names, ['b.example.com']);
});

test('a name that does not resolve, or has no address, is a problem', async () => {
  assert.match((await check({}, 1)) ?? '', /"a\.example\.com" cannot be resolved: "SERVFAIL"/);
  assert.match((await check({ 'a.example.com': [] }, 1)) ?? '', /"a\.example\.com" has no address/);
});

test('an address that is refused is not repeated, and one beside it is a problem', async () => {
  const { port, seen } = await serve({ '127.0.0.1': file });
  const problem = await check({ 'a.example.com': ['127.0.0.1', '10.20.30.40'] }, port);
  assert.match(problem ?? '', /"a\.example\.com" has another address, which may not be called/);
  assert.doesNotMatch(problem ?? '', /10\.20\.30\.40/);
  assert.equal(seen.length, 1);
});

test('nobody listens: the same sentence at each attempt', async () => {
  const { port } = await serve({ '127.0.0.1': file });
  const problem = await check({ 'a.example.com': ['127.0.0.2'] }, port);
  assert.equal(
    problem,
    `the file is not there: 127.0.0.2 of "a.example.com" cannot be reached: "ECONNREFUSED" (A record)${WAIT_INSTEAD}`,
  );
});

for (const [what, alive, dead, more] of [
  ['AAAA record', '127.0.0.1', '::1', []],
  ['A record', '::1', '127.0.0.1', []],
  ['AAAA record behind a redirect', '127.0.0.1', '::1', ['b.example.com']],
] as const) {
  test(`a dead ${what} is passed over beside a family that serves`, async () => {
    const [next = ''] = more;
    const { port } = await serve({
      [alive]: (request, response) => {
        const answer = next === '' || request.headers.host === next ? file : to(`http://${next}/f`);
        answer(request, response);
      },
    });
    const both = [alive, dead];
    assert.equal(await check({ 'a.example.com': both, 'b.example.com': both }, port), undefined);
  });
}

test('a dead address fails where no address of the other family serves the file', async () => {
  const missing: RequestListener = (_request, response) => void response.writeHead(404).end();
  const { port } = await serve({ '127.0.0.1': file, '127.0.0.2': missing });
  const fails = async (...addresses: string[]): Promise<string> =>
    (await check({ 'a.example.com': addresses }, port)) ?? '';
  // A CA that takes one address of a family may take the dead one.
  assert.match(await fails('127.0.0.1', '127.0.0.3'), /127\.0\.0\.3 .* \(A record\)/);
  assert.match(await fails('127.0.0.2', '::1'), /127\.0\.0\.2 .* 404; .*\(AAAA record\)/);
  const alone = await fails('::1');
  assert.match(alone, /^the file is not there: .* of "a\.example\.com" cannot be reached: /);
  assert.ok(alone.endsWith(`(AAAA record)${WAIT_INSTEAD}`), alone);
});

test('an address that answers something else fails, whatever the other family serves', async () => {
  const other: RequestListener = (_request, response) => void response.end('parked');
  const cut: RequestListener = (request) => void request.socket.destroy();
  for (const answer of [other, cut]) {
    const { port } = await serve({ '127.0.0.1': file, '::1': answer });
    const problem = await check({ 'a.example.com': ['127.0.0.1', '::1'] }, port);
    assert.match(
      problem ?? '',
      /^the file is not there: .*1 of "a\.example\.com" (?:answered|cannot)/,
    );
  }
});

for (const [failing, address, records] of [
  ['AAAA', '127.0.0.1', { A: ['127.0.0.1'] }],
  ['A', '::1', { AAAA: ['::1'] }],
] as const) {
  test(`a server that answers SERVFAIL for ${failing} leaves the other family`, async () => {
    const { port } = await serve({ [address]: file });
    assert.equal(await checkByDns(records, failing, port), undefined);
    const alone = (await checkByDns({}, failing, port)) ?? '';
    assert.match(
      alone,
      new RegExp(`cannot be resolved: "${failing}: the resolver r answers SERVFAIL"`),
    );
    assert.ok(alone.endsWith(WAIT_INSTEAD));
  });
}

/** The whole self-check, with a resolver that answers SERVFAIL for one type. */
async function checkByDns(
  records: Readonly<Partial<Record<string, readonly string[]>>>,
  failing: string,
  port: number,
): Promise<string | undefined> {
  const http = openHttp();
  const ask: AskDns = (_resolver, { name, type }) =>
    Promise.resolve({
      kind: 'answer',
      rcode: type === failing ? 'SERVFAIL' : 'NOERROR',
      authoritative: false,
      truncated: false,
      answers: (records[type] ?? []).map((value) => ({ name, type, value })),
      authority: [],
    });
  const selfCheck = createSelfCheck({
    http,
    ask,
    resolvers: ['r'],
    now: () => 0,
    allowed: LOOPBACK,
    http01Ports: { http: port, https: port },
  });
  const about = { type: 'http-01', wildcard: false, presentedAt: 0 } as const;
  try {
    return await selfCheck({ ...about, ...FILE }, new AbortController().signal);
  } finally {
    await http.close();
  }
}

/** Returns the letter of /proc/PID/stat: `T` is stopped. */
const stateOf = (pid = 0): string | undefined =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];

test('an address that accepts no connection in five seconds cannot be reached', async (t) => {
  // Linux drops a SYN once the backlog of a listener is full, and a stopped process accepts none.
  const listener = spawn(process.execPath, [
    '-e',
    `const server = require('node:net').createServer();
     server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => console.log(server.address().port));`,
  ]);
  t.after(() => listener.kill('SIGKILL'));
  const [line] = (await once(listener.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  listener.kill('SIGSTOP');
  await until('it is stopped', 10_000, () => stateOf(listener.pid) === 'T');
  const filling = Array.from({ length: 8 }, () => connect(port, '127.0.0.1'));
  for (const socket of filling) socket.on('error', () => undefined);
  t.after(() => filling.forEach((socket) => socket.destroy()));
  await Promise.race(filling.map((socket) => once(socket, 'connect')));
  const problem = await check({ 'a.example.com': ['127.0.0.1'] }, port);
  const words =
    '127.0.0.1 of "a.example.com" cannot be reached: "UND_ERR_CONNECT_TIMEOUT" (A record)';
  assert.equal(problem, `the file is not there: ${words}${WAIT_INSTEAD}`);
});

test('a silent address ends with the signal', async () => {
  const { port } = await serve({ '127.0.0.1': () => undefined });
  const ended = AbortSignal.timeout(50);
  const problem = await check({ 'a.example.com': ['127.0.0.1'] }, port, { signal: ended });
  assert.match(problem ?? '', /no complete answer in time/);
});

test('a flood of redirects to many names is bounded', async () => {
  let calls = 0;
  const branching: RequestListener = (request, response) => {
    calls += 1;
    response
      .writeHead(302, { location: `http://a.example.com/${request.socket.localAddress}/${calls}` })
      .end();
  };
  const all = Array.from({ length: 16 }, (_, each) => `127.0.0.${each + 1}`);
  const { port } = await serve(Object.fromEntries(all.map((each) => [each, branching])));
  assert.match((await check({ 'a.example.com': all }, port)) ?? '', /more than 64 addresses/);
  assert.ok(calls <= 64, `${calls} calls`);
});
