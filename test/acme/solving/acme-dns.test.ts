// SPDX-License-Identifier: Apache-2.0
/**
 * The solver for acme-dns with a server that behaves as its documentation says: two values a name,
 * the older one forgotten.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { AskDns } from '#acme/solving/dns/client.ts';
import type { DnsRecord } from '#acme/solving/dns/message.ts';
import { createAcmeDnsSolver } from '#acme/solving/dns01/acme-dns.ts';
import type { ChallengeSolver } from '#acme/solving/solver.ts';
import { challengeFor, contextWith, openHttp } from './solver-context.ts';

const ACCOUNT = {
  username: 'user-1',
  password: 'pass-word',
  subdomain: 'd420',
  fulldomain: 'd420.auth.example.org',
  allowfrom: [],
};
const FIRST = 'f'.repeat(43);
const SECOND = 's'.repeat(43);
const never = new AbortController().signal;
const http = openHttp();
const server = createServer();

/** Newest last. */
let values: string[];
let calls: { headers: Record<string, unknown>; body: string; url: string }[];
let answer: { status: number; body: string } | undefined;
let cname: string;
let origin: string;

before(async () => {
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      calls.push({ headers: request.headers, body, url: request.url ?? '' });
      if (answer !== undefined) {
        response.writeHead(answer.status).end(answer.body);
        return;
      }
      const { txt } = JSON.parse(body) as { txt: string };
      values = [...values, txt].slice(-2);
      response.end(JSON.stringify({ txt }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await http.close();
  server.close();
});
beforeEach(() => {
  [values, calls, answer, cname] = [[], [], undefined, ACCOUNT.fulldomain];
});
afterEach(() => assert.ok(calls.every(({ url }) => url === '/update')));

/** What a resolver says: the CNAME, and what the server has. */
const ask: AskDns = (_server, { name }) => {
  const { fulldomain } = ACCOUNT;
  const records: DnsRecord[] = values.map((value) => ({ name: fulldomain, type: 'TXT', value }));
  const link: DnsRecord[] =
    name === '_acme-challenge.example.com' && cname !== ''
      ? [{ name, type: 'CNAME', value: cname }]
      : [];
  return Promise.resolve({
    kind: 'answer',
    rcode: 'NOERROR',
    authoritative: false,
    truncated: false,
    answers: [...link, ...(name === fulldomain ? records : [])],
    authority: [],
  });
};

function solver(accounts: string = JSON.stringify({ 'example.com': ACCOUNT })): ChallengeSolver {
  const context = { ...contextWith(http, ['r'], { 'dns/accounts': accounts }), ask };
  return createAcmeDnsSolver({ server: `${origin}/`, secret: { name: 'dns' } }, context);
}

async function problemOf(with_: ChallengeSolver, name = 'example.com'): Promise<string> {
  const outcome = await with_.present(challengeFor(name, FIRST), never);
  assert.ok(outcome.kind === 'problem', 'it was done');
  assert.ok(!outcome.message.includes(ACCOUNT.password));
  return `${outcome.reason}: ${outcome.message.replaceAll(origin, 'ORIGIN')}`;
}

test('a wildcard and its base name keep both values, however often each is presented', async () => {
  const done = { kind: 'done', at: '_acme-challenge.example.com (CNAME to d420.auth.example.org)' };
  assert.deepEqual(await solver().present(challengeFor('example.com', FIRST), never), done);
  assert.deepEqual(await solver().present(challengeFor('example.com', SECOND, true), never), done);
  assert.deepEqual(await solver().present(challengeFor('example.com', SECOND, true), never), done);
  assert.deepEqual(await solver().present(challengeFor('example.com', FIRST), never), done);
  assert.deepEqual(values, [FIRST, SECOND]);
  assert.deepEqual(await solver().cleanUp(challengeFor('example.com', FIRST), never), {
    kind: 'done',
  });
});

test('what is sent is what acme-dns documents', async () => {
  await solver().present(challengeFor('example.com', FIRST), never);
  const [call] = calls;
  assert.deepEqual(JSON.parse(call?.body ?? ''), { subdomain: 'd420', txt: FIRST });
  assert.equal(call?.headers['x-api-user'], 'user-1');
  assert.equal(call.headers['x-api-key'], 'pass-word');
  assert.equal(call.headers['content-type'], 'application/json');
});

test('a name that is not delegated: the record that is missing', async () => {
  cname = '';
  assert.equal(
    await problemOf(solver()),
    'NotDelegated: _acme-challenge.example.com leads to nothing that acme-dns serves; write this record: _acme-challenge.example.com. IN CNAME d420.auth.example.org. If it is there, the resolvers of acme-solver do not see it: name others by --resolver',
  );
});

test('refusals: its own words are explained, others are not repeated', async () => {
  answer = { status: 401, body: '{"error":"forbidden"}' };
  assert.equal(
    await problemOf(solver()),
    'UpdateRefused: ORIGIN/ answers HTTP status 401: it does not know the account, or not from this address (forbidden)',
  );
  answer = { status: 500, body: '{"error":"a secret of somebody"}' };
  assert.equal(await problemOf(solver()), 'UpdateRefused: ORIGIN/ answers HTTP status 500');
  answer = { status: 404, body: '<html>' };
  assert.equal(await problemOf(solver()), 'UpdateRefused: ORIGIN/ answers HTTP status 404');
});

test('a Secret without the name, or with something else', async () => {
  assert.equal(
    await problemOf(solver(), 'www.example.com'),
    'CredentialMissing: the key "accounts" of the Secret dns has no account for www.example.com, but for "example.com"; register one and add it',
  );
  for (const text of [
    'pass-word',
    '[]',
    '{"example.com":{"username":"pass-word"}}',
    '{"example.com": null}',
  ])
    assert.match(await problemOf(solver(text)), /^CredentialInvalid: /);
  assert.match(await problemOf(solver('{}'), '__proto__'), /^CredentialMissing: /);
  assert.equal(calls.length, 0);
});
