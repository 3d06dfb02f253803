// SPDX-License-Identifier: Apache-2.0
/** The calls of Vault over real HTTPS: hostile servers, slow ones, and what they are not told. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { withoutTokens } from '#component/vault/foreign-text.ts';
import { vaultAccess } from '#component/vault/access.ts';
import { certificatesOf, clientToken, errorText } from '#component/vault/answers.ts';
import { AUTHORITY_FLAGS } from '#trust/authority/flags.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const TLS = await tlsCertificate('vault');
const OTHER = await tlsCertificate('other');

/** What a call of a server brings that answers so. */
async function called(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  caBundle = TLS.cert,
): Promise<HttpAnswer | NoAnswer> {
  const server = createServer(TLS, answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = { connectMs: 2_000, silenceMs: 300, totalMs: 1_000, maxBytes: 262_144 };
  const access = vaultAccess(new Map(), { userAgent: 'test', proxy: undefined, limits });
  const exchange = access.open({ caBundle });
  try {
    return await exchange.send({ method: 'GET', url: `${url}/v1/pki` });
  } finally {
    await exchange.close();
    server.closeAllConnections();
    server.close();
  }
}

const causeOf = (answer: HttpAnswer | NoAnswer): string =>
  'status' in answer ? `status ${answer.status}` : answer.cause;

test('a server without a certificate of the caBundle is not called', async () => {
  let requests = 0;
  const answer = await called((_request, response) => {
    requests += 1;
    response.end();
  }, OTHER.cert);
  assert.deepEqual([causeOf(answer), requests], ['unreachable', 0]);
});

test('redirects, endless answers and silent servers bring none', async () => {
  const away = await called((_request, response) => {
    response.writeHead(307, { location: 'https://other.example.com/' }).end();
  });
  const endless = await called((_request, response) => {
    response.write('x'.repeat(300_000));
  });
  const silent = await called(() => undefined);
  const trickling = await called((_request, response) => {
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => {
      clearInterval(timer);
    });
  });
  const causes = [away, endless, silent, trickling].map(causeOf);
  assert.deepEqual(causes, ['redirect', 'too-long', 'timeout', 'timeout']);
  assert.equal('status' in endless ? undefined : endless.answeredStatus, 200);
});

test('a token is read for each login, since the kubelet replaces it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'vault-token-'));
  try {
    const file = join(directory, 'token');
    const { readToken } = vaultAccess(new Map(), { userAgent: 'test', proxy: undefined });
    for (const token of ['one', 'two']) {
      writeFileSync(file, token);
      assert.equal(await readToken(file), token);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

const received = (body: string): HttpAnswer => ({
  status: 400,
  headers: {},
  body: Buffer.from(body),
});
const TOKEN = 'abcdefghijklmnopqrstuvwxyz0123456789';

test('parts of a token of twelve characters and more are hidden', () => {
  assert.equal(withoutTokens(`a ${TOKEN} b`, [TOKEN]), 'a [token] b');
  assert.equal(withoutTokens(`<${TOKEN.slice(5, 20)}>`, [TOKEN]), '<[token]>');
  assert.equal(withoutTokens(TOKEN.slice(0, 11), [TOKEN]), TOKEN.slice(0, 11));
  assert.equal(withoutTokens(TOKEN + TOKEN, [TOKEN]), '[token][token]');
  const errors = JSON.stringify({ errors: ['x'.repeat(290) + TOKEN] });
  assert.ok(!errorText(received(errors), [TOKEN]).includes('abcdefgh'));
});

test('errors are quoted, and any other text as well', () => {
  assert.equal(errorText(received('{"errors":["a","b"]}'), []), '"a; b"');
  assert.equal(errorText(received('<html>\u001b[31m'), []), '"<html>\\u001b[31m"');
  assert.ok(errorText(received('y'.repeat(9_000)), []).length < 400);
});

test('answers of another shape have no token and no certificate', () => {
  for (const body of [
    '',
    '[]',
    'null',
    '{"auth":1}',
    '{"data":{"certificate":7}}',
    '{"data":[]}',
  ]) {
    assert.equal(clientToken(received(body)), undefined, body);
    assert.equal(certificatesOf(received(body)), undefined, body);
  }
  const broken = JSON.stringify({ auth: { client_token: 'a\r\nx-other: b' } });
  assert.equal(clientToken(received(broken)), undefined);
  const long = { data: { certificate: TLS.cert, ca_chain: bigChain() } };
  assert.equal(certificatesOf(received(JSON.stringify(long))), undefined);
});

/** Different blocks with more characters than a chain may have. */
function bigChain(): readonly string[] {
  return Array.from(
    { length: 100 },
    (_none, index) =>
      `-----BEGIN CERTIFICATE-----\n${'A'.repeat(700 + index)}\n-----END CERTIFICATE-----\n`,
  );
}

test('--upstream-vault takes a server and a file, each server once', () => {
  const flag = AUTHORITY_FLAGS.find(({ flag: name }) => name.startsWith('--upstream-vault '));
  assert.ok(flag?.add !== undefined);
  const one = flag.add(new Map(), 'https://vault.example.com:8200=/run/a=b');
  assert.deepEqual(one, new Map([['https://vault.example.com:8200', '/run/a=b']]));
  for (const wrong of [
    'https://vault.example.com:8200',
    'https://vault.example.com:8200=',
    'http://vault.example.com=/run/a',
    'https://vault.example.com/=/run/a',
    'https://Vault.example.com=/run/a',
    'https://user@vault.example.com=/run/a',
    'https://vault.example.com:8200=/run/c',
  ]) {
    assert.throws(() => flag.add?.(one, wrong), { code: 'USAGE' }, wrong);
  }
});
