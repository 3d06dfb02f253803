// SPDX-License-Identifier: Apache-2.0
/** What the client makes of servers that are ill, lie, or attack. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { flattenedVerify, importJWK, type FlattenedJWS, type JWK } from 'jose';
import { createAccount, findAccount, type Account } from '#acme/protocol/accounts.ts';
import type { Answer } from '#acme/protocol/answer.ts';
import { downloadPreferredChain } from '#acme/protocol/certificates.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { getOrder, newOrder, type AcmeOrder } from '#acme/protocol/orders.ts';
import { getRenewalWindow, renewalId } from '#acme/protocol/renewal-info.ts';
import { openServer, type AcmeServerInit } from '#acme/protocol/server.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { SignerError } from '#base/errors.ts';
import { newKey, noAnswerOf, problemOf, valueOf } from '../calls.ts';
import { json, startScriptedServer, type Reply, type ScriptedServer } from '../scripted-server.ts';

const TERMS = { contact: [], termsOfServiceAgreed: true };
const ORDER = { identifiers: [{ type: 'dns', value: 'a.example' }] } as const;

let scripted: ScriptedServer;
let account: Account;

beforeEach(async () => {
  scripted = await startScriptedServer();
  const key = await newKey();
  account = { key, account: `${scripted.origin}/account/1`, status: 'valid', contact: [] };
});
afterEach(() => scripted.stop());

async function order(reply: Reply, limits = {}): Promise<Answer<AcmeOrder>> {
  scripted.reply['/order'] = reply;
  return newOrder(scripted.client({ limits }), account, ORDER);
}

const good = (): object => ({
  status: 'pending',
  identifiers: ORDER.identifiers,
  authorizations: [`${scripted.origin}/authz/1`],
  finalize: `${scripted.origin}/finalize/1`,
});
const at = (path: string): { location: string } => ({ location: `${scripted.origin}${path}` });

test('a call is signed with key, account, nonce and URL only (RFC 8555 §6.2)', async () => {
  let sent: FlattenedJWS | undefined;
  const contentTypes: (string | undefined)[] = [];
  const answer = await order((request, response, body) => {
    sent = JSON.parse(body) as FlattenedJWS;
    contentTypes.push(request.headers['content-type']);
    json(201, good(), at('/order/1'))(request, response, body);
  });
  assert.equal(valueOf(answer).url, `${scripted.origin}/order/1`);
  assert.ok(sent);
  const { protectedHeader, payload } = await flattenedVerify(
    sent,
    await importJWK(account.key.jwk, 'ES256'),
  );
  assert.deepEqual(protectedHeader, {
    alg: 'ES256',
    kid: account.account,
    nonce: 'fresh-2',
    url: `${scripted.origin}/order`,
  });
  assert.deepEqual(JSON.parse(Buffer.from(payload).toString()), ORDER);
  assert.deepEqual(contentTypes, ['application/jose+json']);
});

test('a POST-as-GET has an empty payload', async () => {
  let payload: string | undefined;
  scripted.reply['/order/1'] = (request, response, body) => {
    ({ payload } = JSON.parse(body) as { payload: string });
    json(200, good())(request, response, body);
  };
  valueOf(await getOrder(scripted.client(), account, `${scripted.origin}/order/1`));
  assert.equal(payload, '');
});

test('a rejected nonce is replaced by the rejection’s own, at most six times', async () => {
  const used: unknown[] = [];
  const type = 'urn:ietf:params:acme:error:badNonce';
  const answer = await order((request, response, body) => {
    const { protected: header } = JSON.parse(body) as { protected: string };
    used.push((JSON.parse(Buffer.from(header, 'base64url').toString()) as { nonce: string }).nonce);
    json(400, { type }, { 'replay-nonce': `after-${used.length}` })(request, response, body);
  });
  assert.equal(problemOf(answer).type, 'badNonce');
  assert.deepEqual(used, ['fresh-2', ...[1, 2, 3, 4, 5].map((n) => `after-${n}`)]);
});

test('nothing else is retried: the caller decides whether to order again', async () => {
  for (const reply of [json(500, {}), json(429, {}), json(400, {}), hangUp]) {
    scripted.calls.length = 0;
    await order(reply);
    assert.equal(scripted.calls.filter((path) => path === '/order').length, 1);
  }
});

const hangUp: Reply = (_request, response) => void response.destroy();

test('a limit says how long it lasts, in seconds or as a date', async () => {
  const type = 'urn:ietf:params:acme:error:rateLimited';
  const problem = problemOf(await order(json(429, { type }, { 'retry-after': '77' })));
  assert.deepEqual([problem.type, problem.retryAfterMs], ['rateLimited', 77_000]);
  const date = new Date(Date.now() + 1000 * 3600).toUTCString();
  const later = problemOf(await order(json(503, {}, { 'retry-after': date })));
  assert.deepEqual([later.status, later.type], [503, 'none']);
  assert.ok(Math.abs((later.retryAfterMs ?? 0) - 3_600_000) <= 2000);
});

const NOT_JSON: readonly [what: string, reply: () => Reply][] = [
  ['HTML', () => (_request, response) => void response.end('<html><body>502</body></html>')],
  ['an empty answer', () => (_request, response) => void response.end()],
  ['JSON of another shape', () => json(201, { status: 'waiting' }, at('/order/1'))],
  ['no Location', () => json(201, good())],
  ['a string', () => json(201, 'ok', at('/order/1'))],
  [
    'compressed bytes',
    () => (_request, response) => void response.end(Buffer.from('1f8b08', 'hex')),
  ],
];

for (const [what, reply] of NOT_JSON) {
  test(`${what} is no answer, and the order may have been made`, async () => {
    const { cause, mayHaveArrived } = noAnswerOf(await order(reply()));
    assert.deepEqual([cause, mayHaveArrived], ['unusable', true]);
  });
}

test('an answer of 100 MB is left at the limit', async () => {
  let sent = 0;
  const answer = await order((_request, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      while (sent < 100 * 1024 * 1024 && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  assert.equal(noAnswerOf(answer).cause, 'too-long');
  assert.ok(sent < 50 * 1024 * 1024, String(sent));
});

test('half an answer is none', async () => {
  const answer = await order((_request, response) => {
    response.writeHead(201, { 'content-length': '1000' });
    response.write('{"status":', () => void response.destroy());
  });
  const { cause, mayHaveArrived } = noAnswerOf(answer);
  assert.deepEqual([cause, mayHaveArrived], ['cut-off', true]);
});

test('a client times out on a silent or a trickling server', async () => {
  const silent = await order(() => undefined, { silenceMs: 100 });
  assert.equal(noAnswerOf(silent).cause, 'timeout');
  const drops: Reply = (_request, response) => {
    const timer = setInterval(() => void response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };
  const slow = noAnswerOf(await order(drops, { totalMs: 300 }));
  assert.deepEqual([slow.cause, slow.mayHaveArrived], ['timeout', true]);
});

test('nobody is followed elsewhere: a redirect is no answer', async () => {
  const answer = await order(json(307, {}, { location: 'https://169.254.169.254/latest' }));
  const { cause, detail } = noAnswerOf(answer);
  assert.equal(cause, 'redirect');
  assert.match(detail, /169\.254\.169\.254/);
});

test('a URL of another origin in an answer is never called', async () => {
  for (const foreign of [
    'https://127.0.0.1:1/x',
    'http://127.0.0.1/x',
    'https://user@127.0.0.1/x',
    'file:///etc/passwd',
    'nonsense',
  ]) {
    const finalize = await order(json(201, { ...good(), finalize: foreign }, at('/order/1')));
    assert.equal(noAnswerOf(finalize).cause, 'foreign-url', foreign);
    const location = await order(json(201, good(), { location: foreign }));
    assert.equal(noAnswerOf(location).cause, 'foreign-url', foreign);
  }
  scripted.reply['/dir'] = json(200, {
    newNonce: 'https://169.254.169.254/',
    newAccount: `${scripted.origin}/account`,
    newOrder: `${scripted.origin}/order`,
  });
  assert.equal(noAnswerOf(await scripted.client().directory()).cause, 'foreign-url');
});

test('a directory behind an alias: the message names both hosts, and no path', async () => {
  const { detail: location } = noAnswerOf(
    await order(json(201, good(), { location: 'https://127.0.0.1:1/x' })),
  );
  assert.match(location, /^Location: is at "https:\/\/127\.0\.0\.1:1", and not /);
  scripted.reply['/dir'] = json(200, {
    newNonce: 'https://user:pass@ca.example:8443/acme/new-nonce?key=secret',
    newAccount: `${scripted.origin}/account`,
    newOrder: `${scripted.origin}/order`,
  });
  const { detail } = noAnswerOf(await scripted.client().directory());
  assert.equal(
    detail,
    `the answer, newNonce: is at "https://ca.example:8443", and not an https:// URL at "${scripted.origin}", the origin of spec.acme.server; name the directory by the host that the CA uses in its URLs, or list the origin in spec.acme.additionalOrigins`,
  );
});

test('a directory behind an alias: URLs of a listed origin are called, and no others', async () => {
  const alias = scripted.origin.replace('127.0.0.1', 'localhost');
  const directory = `${alias}/dir`;
  const init = { directory, additionalOrigins: [scripted.origin] };
  const { newOrder: url } = valueOf(await scripted.client(init).directory());
  assert.equal(url, `${scripted.origin}/order`);
  scripted.reply['/order'] = json(201, good(), at('/order/1'));
  assert.equal(
    valueOf(await newOrder(scripted.client(init), account, ORDER)).url,
    `${scripted.origin}/order/1`,
  );
  const unlisted = 'https://ca.example:8443';
  const other = { ...good(), finalize: `${unlisted}/finalize/1` };
  scripted.reply['/order'] = json(201, other, at('/order/1'));
  const { cause, detail } = noAnswerOf(await newOrder(scripted.client(init), account, ORDER));
  assert.equal(cause, 'foreign-url');
  for (const named of [alias, scripted.origin, unlisted]) assert.ok(detail.includes(`"${named}"`));
});

test('the guard refuses the address of a listed origin', async () => {
  const guard: NonNullable<AcmeServerInit['guard']> = connectGuard([], {
    called: 'ACME servers',
    flag: '--namespaced-network',
  });
  const alias = scripted.origin.replace('127.0.0.1', 'localhost');
  const client = scripted.client({ additionalOrigins: [alias], guard });
  const target = { endpoint: 'order', url: `${alias}/order`, read: () => null } as const;
  assert.equal((await client.get(target)).kind, 'transport');
  assert.deepEqual(scripted.calls, []);
});

test('without the preferred chain the default is used; a failing server is a problem', async () => {
  const { cert } = await tlsCertificate('leaf');
  scripted.reply['/cert'] = (_request, response) => {
    const link = ['https://127.0.0.1:1/x', `${scripted.origin}/gone`, `${scripted.origin}/other`];
    response.writeHead(200, { link: link.map((url) => `<${url}>;rel="alternate"`) }).end(cert);
  };
  const download = (preferredChain: string): ReturnType<typeof downloadPreferredChain> =>
    downloadPreferredChain(scripted.client(), account, `${scripted.origin}/cert`, {
      preferredChain,
    });
  const { cert: other } = await tlsCertificate('Other');
  scripted.reply['/other'] = (_request, response) => void response.end(other);
  const subject = async (name: string): Promise<string | undefined> =>
    valueOf(await download(name)).certificates[0].subject.attributes[0]?.value;
  assert.deepEqual([await subject('Other'), await subject('No such')], ['Other', 'leaf']);
  assert.equal(scripted.calls.filter((path) => path === '/gone').length, 2);
  scripted.reply['/gone'] = json(503, {});
  assert.equal(problemOf(await download('Other')).status, 503);
});

test('what was never sent cannot have arrived', async () => {
  const gone = openServer({
    directory: 'https://127.0.0.1:1/dir',
    userAgent: 'test',
    clock: Date.now,
  });
  const { cause, mayHaveArrived } = noAnswerOf(await findAccount(gone, account.key));
  assert.deepEqual([cause, mayHaveArrived], ['unreachable', false]);
  await gone.close();
  const untrusted = openServer({
    directory: `${scripted.origin}/dir`,
    userAgent: 'test',
    clock: Date.now,
  });
  assert.equal(noAnswerOf(await untrusted.directory()).cause, 'unreachable');
  await untrusted.close();
  scripted.reply['/nonce'] = hangUp;
  const noNonce = noAnswerOf(await newOrder(scripted.client(), account, ORDER));
  assert.equal(noNonce.mayHaveArrived, false);
  scripted.reply['/nonce'] = json(200, {}, { 'replay-nonce': 'no nonce!' });
  assert.equal(noAnswerOf(await newOrder(scripted.client(), account, ORDER)).cause, 'no-nonce');
});

test('the caller’s signal ends a call', async () => {
  const controller = new AbortController();
  scripted.reply['/order'] = () => {
    controller.abort();
  };
  const answer = await newOrder(scripted.client(), account, ORDER, controller.signal);
  assert.equal(noAnswerOf(answer).cause, 'aborted');
});

test('the directory is asked once an hour; one that could not be read is asked again', async () => {
  let now = 0;
  const client = scripted.client({ clock: () => now });
  const real = scripted.reply['/dir'];
  scripted.reply['/dir'] = json(500, {});
  await client.directory();
  scripted.reply['/dir'] = real ?? hangUp;
  valueOf(await client.directory());
  valueOf(await client.directory());
  assert.equal(scripted.calls.length, 2);
  now = 3600_000;
  valueOf(await client.directory());
  assert.equal(scripted.calls.length, 3);
});

test('a directory of no HTTPS is refused before anybody is called', () => {
  for (const directory of ['http://ca.example/dir', 'ca.example', 'https://u:p@ca.example/dir'])
    assert.throws(
      () => openServer({ directory, userAgent: 'test', clock: Date.now }),
      (error) => error instanceof SignerError && error.code === 'SPEC_INVALID',
    );
});

test('an external account signs the account’s key with its MAC key', async () => {
  let sent: { payload: string } | undefined;
  scripted.reply['/account'] = (request, response, body) => {
    sent = JSON.parse(body) as { payload: string };
    json(201, { status: 'valid' }, at('/account/7'))(request, response, body);
  };
  const macKey = Buffer.alloc(32, 1);
  const wanted = { ...TERMS, externalAccount: { keyId: 'kid', macKey } };
  valueOf(await createAccount(scripted.client(), account.key, wanted));
  const { externalAccountBinding: binding } = JSON.parse(
    Buffer.from(sent?.payload ?? '', 'base64url').toString(),
  ) as { externalAccountBinding: FlattenedJWS };
  const { protectedHeader, payload } = await flattenedVerify(binding, macKey);
  assert.deepEqual(protectedHeader, {
    alg: 'HS256',
    kid: 'kid',
    url: `${scripted.origin}/account`,
  });
  assert.deepEqual(JSON.parse(Buffer.from(payload).toString()) as JWK, account.key.jwk);
});

test('the id of a certificate is RFC 9773 §4.1’s example', () => {
  const authorityKeyIdentifier = Buffer.from('69885b6b87464041e1b37b847ba0ae2cde01c8d4', 'hex');
  const serial = Buffer.from('0087654321', 'hex');
  const id = renewalId({ authorityKeyIdentifier, serial });
  assert.equal(id, 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test('a server without renewal information is a 404 problem, not a network error', async () => {
  const answer = await getRenewalWindow(scripted.client(), 'a.b');
  assert.deepEqual([problemOf(answer).status, problemOf(answer).type], [404, 'none']);
});
