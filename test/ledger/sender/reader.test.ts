// SPDX-License-Identifier: Apache-2.0
/** How a component reads at the ledger's port: what it sends, and what an answer may be. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createLedgerConnection, type LedgerConnection } from '#ledger/sender/connection.ts';
import { createLedgerReader } from '#ledger/sender/reader.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const MAX_BYTES = 1_000;
const never = new AbortController().signal;

let server: Server;
let connection: LedgerConnection;
let answer: { readonly status: number; readonly body: string };
const seen: (readonly [method: string, url: string, token: string])[] = [];

before(async () => {
  const { cert, key } = await tlsCertificate('ledger');
  server = createServer({ cert, key }, ({ method = '', url = '', headers }, response) => {
    seen.push([method, url, headers.authorization ?? '']);
    response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  connection = createLedgerConnection({
    url: new URL(`https://127.0.0.1:${port}`),
    readToken: () => Promise.resolve('secret-token\n'),
    readCa: () => Promise.resolve(cert),
  });
});

after(() => {
  connection.close();
  server.close();
});

function read(status: number, body: string): Promise<unknown> {
  answer = { status, body };
  const query = { fieldSelector: 'podUID=a\\,b&c', continue: undefined, limit: 100 };
  const { get } = createLedgerReader(connection);
  return get({ path: '/apis/x', query, maxBytes: MAX_BYTES, signal: never });
}

test('a reading is a GET with the token, and a query whose values stay values', async () => {
  seen.length = 0;
  assert.deepEqual(await read(200, '{"items":[]}'), { items: [] });
  const [[method, url, token] = []] = seen;
  assert.deepEqual([method, token], ['GET', 'Bearer secret-token']);
  const { pathname, searchParams } = new URL(url ?? '', 'https://ledger');
  assert.equal(pathname, '/apis/x');
  assert.deepEqual(
    [...searchParams],
    [
      ['fieldSelector', 'podUID=a\\,b&c'],
      ['limit', '100'],
    ],
  );
});

for (const [what, status, body, says] of [
  ['an answer that is too long', 200, 'x'.repeat(MAX_BYTES + 1), /its answer is too long/],
  ['an answer that is no JSON', 200, '<html>', /not JSON/],
  ['a refusal', 403, '{"message":"no\\u202e"}', /shows no records: no\\u\{202e\} \(HTTP 403\)$/],
  ['a refusal in plain text', 503, 'not yet\n', /shows no records: not yet \(HTTP 503\)$/],
] as const)
  test(`${what} is a ledger that cannot be used now`, async () => {
    await assert.rejects(read(status, body), (error: Error) => {
      assert.match(error.message, says);
      assert.ok(error.message.length < 500);
      return (error as { code?: string }).code === 'LEDGER_UNAVAILABLE';
    });
  });
