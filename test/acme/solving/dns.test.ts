// SPDX-License-Identifier: Apache-2.0
/**
 * What is made of DNS servers that are ill, lie, or attack. Those that are well are real ones: see
 * the -run files.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, test } from 'node:test';
import packet, { type Answer } from 'dns-packet';
import { createServer as createHttpsServer } from 'node:https';
import { createExchange, CALL_LIMITS } from '#base/egress/exchange.ts';
import { formatDnsAddress, parseDnsAddress } from '#acme/solving/dns/address.ts';
import { createDnsClient } from '#acme/solving/dns/client.ts';
import { decodeAnswer, isDnsName, isWithin } from '#acme/solving/dns/message.ts';
import { signMessage, verifyAnswer, type TsigKey } from '#acme/solving/dns/tsig.ts';
import { encodeUpdate } from '#acme/solving/dns/update.ts';
import { createRfc2136Solver } from '#acme/solving/dns01/rfc2136.ts';
import { persistentRecords, provesPersistently } from '#acme/solving/dns01/persist.ts';
import { freePort } from '../../cluster/ports.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { challengeFor, contextWith, openHttp } from './solver-context.ts';

const KEY: TsigKey = { name: 'k', algorithm: 'HMAC-SHA256', secret: Buffer.alloc(32, 1) };
const QUESTION = { name: 'a.example', type: 'TXT', recursive: true } as const;
const TXT: Answer = { type: 'TXT', name: 'A.Example', ttl: 1, data: ['he', 'llo'] };
const never = new AbortController().signal;
const http = openHttp();
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Reply = (query: Buffer) => readonly Buffer[];

/** One server that answers over UDP and TCP as the test says. */
async function serve(byUdp: Reply, byTcp: Reply = () => []): Promise<string> {
  const port = await freePort();
  const udp = createSocket('udp4');
  udp.on('message', (query, { port: to, address }) => {
    for (const answer of byUdp(query)) udp.send(answer, to, address);
  });
  udp.bind(port, '127.0.0.1');
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      for (const answer of byTcp(data.subarray(2))) socket.write(answer);
      socket.end();
    });
  });
  tcp.listen(port, '127.0.0.1');
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  open.push(
    () => new Promise<void>((done) => udp.close(() => done())),
    () => new Promise((done) => tcp.close(done)),
  );
  return `127.0.0.1:${port}`;
}

function answerTo(query: Buffer, flags = 0, answers: Answer[] = [TXT]): Buffer {
  const { questions = [] } = packet.decode(query);
  return packet.encode({ type: 'response', id: query.readUInt16BE(0), flags, questions, answers });
}

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

const ask = createDnsClient(http);

test('strings of a TXT record are put together, and names compared in small letters', async () => {
  const server = await serve((query) => [answerTo(query, packet.AUTHORITATIVE_ANSWER)]);
  const answer = await ask(server, QUESTION, never);
  assert.ok(answer.kind === 'answer');
  assert.deepEqual(answer.answers, [{ name: 'a.example', type: 'TXT', value: 'hello' }]);
  assert.ok(answer.authoritative);
});

test('an answer with another id, and a query, are not the answer', async () => {
  const server = await serve((query) => {
    const other = answerTo(query, 0, []);
    other.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
    return [other, query, answerTo(query)];
  });
  const answer = await ask(server, QUESTION, never);
  assert.ok(answer.kind === 'answer');
  assert.equal(answer.answers.length, 1);
});

test('an answer that is cut is asked for again by TCP, whatever pieces that comes in', async () => {
  const server = await serve(
    (query) => [answerTo(query, packet.TRUNCATED_RESPONSE, [])],
    (query) => [...framed(answerTo(query))].map((octet) => Buffer.from([octet])),
  );
  const answer = await ask(server, QUESTION, never);
  assert.ok(answer.kind === 'answer');
  assert.equal(answer.answers.length, 1);
});

test('silence over UDP is followed by TCP, and by a sentence', async () => {
  const server = await serve(() => []);
  assert.deepEqual(await ask(server, QUESTION, never), {
    kind: 'none',
    problem: 'closes the connection without an answer',
  });
});

test('a server whose name does not resolve is a problem, not an exception', async () => {
  const signal = AbortSignal.timeout(30_000);
  const question = { name: 'example.com', type: 'TXT', recursive: true } as const;
  const found = await ask('no-such-host.invalid:53', question, signal);
  assert.match(found.kind === 'none' ? found.problem : '', /^cannot be reached: /);
});

test('a name that is none is not asked for', async () => {
  const answer = await ask(
    '127.0.0.1:1',
    { ...QUESTION, name: `${'a'.repeat(64)}.example` },
    never,
  );
  assert.match(
    answer.kind === 'none' ? answer.problem : '',
    /^cannot be queried: "a+\.example" is not a DNS name$/,
  );
  for (const [name, is] of [
    ['_acme-challenge.example.com', true],
    ['a..b', false],
    ['a b', false],
    ['a\u0000.b', false],
    ['', false],
    ['ä.example', false],
    [Array.from({ length: 127 }, () => 'a').join('.'), true],
    [Array.from({ length: 128 }, () => 'a').join('.'), false],
  ] as const)
    assert.equal(isDnsName(name), is, name);
  assert.ok(isWithin('a.example', 'example') && !isWithin('anexample', 'example'));
});

test('whatever octets arrive, nothing is thrown', () => {
  const whole = answerTo(
    packet.encode({ type: 'query', id: 1, questions: [{ type: 'TXT', name: 'a.example' }] }),
  );
  const { message: signed } = signMessage(
    encodeUpdate({ zone: 'e', name: 'a.e', value: 'v', change: 'add' }),
    KEY,
    1,
  );
  for (let round = 0; round < 900; round += 1) {
    const base =
      round % 3 === 0
        ? randomBytes(1 + (round % 300))
        : Buffer.from(round % 3 === 1 ? whole : signed);
    for (const octet of randomBytes(1 + (round % 4))) base[octet % base.length] = octet ^ round;
    const cut = base.subarray(0, 1 + (round % base.length));
    assert.ok(['answer', 'none'].includes(decodeAnswer(cut).kind));
    assert.notEqual(verifyAnswer(cut, KEY, Buffer.alloc(32), 1).tsig, 'good');
  }
});

test('an update’s response with no signature or a wrong one is rejected', async () => {
  const tsig = { keyName: 'k', algorithm: 'HMAC-SHA256', secret: { name: 'dns' } } as const;
  const secret = Buffer.from(KEY.secret).toString('base64');
  const attempt = async (reply: Reply): Promise<string> => {
    const zone = await serve((query) => [answerTo(query, 0, [])]);
    const server = await serve(() => [], reply);
    const context = contextWith(http, [zone], { 'dns/tsig': secret });
    const solver = createRfc2136Solver({ server, zone: 'example', tsig }, context);
    const outcome = await solver.present(challengeFor('a.example', 'v'), never);
    return outcome.kind === 'problem'
      ? `${outcome.reason}: ${outcome.message.replaceAll(server, 'SERVER')}`
      : outcome.kind;
  };
  const header = (query: Buffer, rcode: number): Buffer => {
    const bytes = Buffer.alloc(12);
    query.copy(bytes, 0, 0, 2);
    bytes.writeUInt16BE(0xa800 | rcode, 2);
    return bytes;
  };
  const now = Math.floor(Date.now() / 1000);
  const believed = 'another party may have written it, so it is rejected';
  assert.equal(
    await attempt((query) => [framed(header(query, 0))]),
    `AnswerUnverified: the answer of SERVER is not signed: ${believed}`,
  );
  assert.equal(
    await attempt((query) => [framed(signMessage(header(query, 0), KEY, now).message)]),
    `AnswerUnverified: the answer of SERVER has a wrong signature: ${believed}`,
  );
  assert.match(
    await attempt((query) => [framed(header(query, 4))]),
    /^UpdateRefused: .* \(NOTIMP\)$/,
  );
  assert.match(
    await attempt(() => [framed(Buffer.from('HTTP/1.1 400'))]),
    /^ServerUnreachable: SERVER answers another query/,
  );
});

test('host:port in each form', () => {
  for (const [text, at] of [
    ['ns.example', 'ns.example:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['2001:db8::1', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
    ['[ns.example]:53', undefined],
    ['ns.example:0', undefined],
    ['ns.example:65536', undefined],
    ['a b:53', undefined],
    [':53', undefined],
    ['', undefined],
  ] as const) {
    const address = parseDnsAddress(text);
    assert.equal(address === undefined ? undefined : formatDnsAddress(address), at, text);
  }
});

test('DNS over HTTPS sends RFC 8484 queries and reports HTTP errors and HTML', async () => {
  const { cert, key } = await tlsCertificate('doh');
  const seen: string[] = [];
  const server = createHttpsServer({ cert, key }, (request, response) => {
    const url = new URL(request.url ?? '', 'https://doh');
    seen.push(`${request.method ?? ''} ${url.pathname} ${request.headers.accept ?? ''}`);
    const query = Buffer.from(url.searchParams.get('dns') ?? '', 'base64url');
    if (url.pathname === '/ill') response.writeHead(503).end('secret of somebody');
    else response.end(url.pathname === '/html' ? '<html>' : answerTo(query));
    if (url.pathname === '/q') assert.equal(query.readUInt16BE(0), 0);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => new Promise((done) => server.close(done)));
  const { port } = server.address() as { port: number };
  const trusting = createExchange({
    ca: cert,
    userAgent: 'test',
    limits: CALL_LIMITS,
    proxy: undefined,
  });
  open.unshift(() => trusting.close());
  const askIt = createDnsClient(trusting);
  const answer = await askIt(`https://127.0.0.1:${port}/q`, QUESTION, never);
  assert.ok(answer.kind === 'answer');
  assert.equal(answer.answers[0]?.value, 'hello');
  assert.deepEqual(seen, ['GET /q application/dns-message']);
  assert.deepEqual(await askIt(`https://127.0.0.1:${port}/ill`, QUESTION, never), {
    kind: 'none',
    problem: 'answers HTTP status 503',
  });
  const html = await askIt(`https://127.0.0.1:${port}/html`, QUESTION, never);
  assert.match(html.kind === 'none' ? html.problem : '', /^sends no DNS message: /);
});

test('dns-persist-01 records bind account, CA and time; wildcards need policy=wildcard', () => {
  const proof = { accountUrl: 'https://ca/acct/1', issuers: ['ca.example'] };
  const proves = (value: string, wildcard = false, issuers = proof.issuers): boolean =>
    provesPersistently(['other', value], wildcard, { ...proof, issuers }, 1_000_000);
  const good = 'ca.example; accounturi=https://ca/acct/1';
  assert.ok(proves(good) && proves(` ca.example\t;AccountURI = https://ca/acct/1 `));
  assert.ok(proves(good.replace('ca.example', 'another.example'), false, []));
  assert.ok(proves(`${good}; policy=WildCard`, true) && proves(`${good}; persistUntil=1000`));
  for (const [value, wildcard] of [
    [good, true],
    [`${good}; policy=other`, true],
    [`${good}; persistUntil=999`, false],
    [`${good}; persistUntil=soon`, false],
    [good.replace('ca.example', 'another.example'), false],
    [good.replace('/1', '/2'), false],
    ['ca.example', false],
    [`${good};`, false],
    [`${good}; accounturi=https://ca/acct/1`, false],
    [`${good}; note=a b`, false],
    ['; accounturi=https://ca/acct/1', false],
  ] as const)
    assert.equal(proves(value, wildcard), false, value);
});

test('a signer lists one record per name of its persistent solvers, and each proves it', () => {
  const proof = { accountUrl: 'https://ca/acct/1', issuers: ['ca.example', 'ca.test'] };
  const records = persistentRecords(
    [
      { name: 'http', http01: {}, selector: { dnsNames: ['no.example'] } },
      { name: 'one', persist: {}, selector: { dnsNames: ['a.example', '*.a.example'] } },
      { name: 'two', persist: {}, selector: { dnsZones: ['b.example'], dnsNames: ['c.example'] } },
      { name: 'all', persist: {}, selector: { matchLabels: { team: 'a' } } },
    ],
    proof,
  );
  const value = 'ca.example; accounturi=https://ca/acct/1';
  assert.deepEqual(records, [
    `_validation-persist.a.example. IN TXT "${value}; policy=wildcard"`,
    `_validation-persist.c.example. IN TXT "${value}"`,
    `_validation-persist.b.example. IN TXT "${value}; policy=wildcard"`,
    `_validation-persist.<name>. IN TXT "${value}"`,
  ]);
  for (const record of records) {
    const [, text = ''] = record.split('"');
    assert.ok(provesPersistently([text], text.includes('policy'), proof, 0), record);
  }
  const many = Array.from({ length: 100 }, (_, index) => `${index}.example`);
  const bounded = persistentRecords(
    [{ name: 'many', persist: {}, selector: { dnsNames: many } }],
    proof,
  );
  assert.equal(bounded.length, 64);
});
