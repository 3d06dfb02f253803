// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createHttpsSender, type HttpsSender } from '#ledger/sender/https.ts';
import { issuedRecord, resultRecord } from '../../support/ledger/records.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const UNAVAILABLE = { code: 'LEDGER_UNAVAILABLE', disposition: 'retry' } as const;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let server: Server;
let ca: string;
let answer: Answer;
const seen: { readonly path: string; readonly token: string; readonly keys: readonly string[] }[] =
  [];
const opened: HttpsSender[] = [];

before(async () => {
  const { cert, key } = await tlsCertificate('ledger');
  ca = cert;
  server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const records = JSON.parse(Buffer.concat(chunks).toString()) as { key: string }[];
      const { authorization: token = '' } = request.headers;
      seen.push({ path: request.url ?? '', token, keys: records.map(({ key: each }) => each) });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});

after(() => {
  for (const each of opened) each.close();
  server.close();
});

function sender(trusted = ca): HttpsSender {
  const { port } = server.address() as AddressInfo;
  const made = createHttpsSender({
    url: new URL(`https://127.0.0.1:${port}`),
    readToken: () => Promise.resolve('secret-token\n'),
    readCa: () => Promise.resolve(trusted),
  });
  opened.push(made);
  return made;
}

const results = (...each: readonly object[]): Answer => ({
  status: 200,
  body: JSON.stringify({ results: each }),
});
const refused = (code: string): object => ({ error: { code, message: 'because' } });

test('a batch is one request with the token, and its answer is one for each record', async () => {
  seen.length = 0;
  answer = results({}, refused('LEDGER_REFUSED'), refused('LEDGER_MALFORMED'));
  const records = [issuedRecord(0), issuedRecord(1), issuedRecord(2)];
  const [first, second, third] = await sender().send(records);
  assert.deepEqual(
    [first, second?.code, third?.code],
    [undefined, 'LEDGER_REFUSED', 'LEDGER_MALFORMED'],
  );
  const keys = records.map(({ key }) => key);
  assert.deepEqual(seen, [{ path: '/v1/append', token: 'Bearer secret-token', keys }]);
});

test('a result that is there already is kept; another leaf under a known key is not', async () => {
  answer = results(refused('LEDGER_CONFLICT'), refused('LEDGER_CONFLICT'));
  const [result, leaf] = await sender().send([resultRecord(0), issuedRecord(0)]);
  assert.deepEqual([result, leaf?.code], [undefined, 'LEDGER_CONFLICT']);
});

test('requests that are too large for one batch go in several', async () => {
  seen.length = 0;
  answer = results({});
  const pkcs10 = 'A'.repeat(1_400_000);
  const huge = Array.from({ length: 13 }, (_, n) => {
    const record = issuedRecord(n);
    return { ...record, request: { ...record.request, pkcs10 } };
  });
  await assert.rejects(sender().send(huge), UNAVAILABLE);
  assert.ok((seen[0]?.keys.length ?? 0) < huge.length);
});

const unusable: [law: string, answer: Answer][] = [
  ['an answer of another status', { status: 503, body: 'no' }],
  ['an answer that is no JSON', { status: 200, body: 'no' }],
  ['an answer with fewer results than records', results()],
  ['another protocol', { status: 101, body: '', headers: { connection: 'upgrade', upgrade: 'x' } }],
  ['a code that no ledger gives', results(refused('KUBE_GONE'))],
];

for (const [law, given] of unusable) {
  test(`is tried again: ${law}`, async () => {
    answer = given;
    await assert.rejects(sender().send([issuedRecord(0)]), UNAVAILABLE);
  });
}

test('a ledger whose certificate is of another CA gets no token', async () => {
  seen.length = 0;
  const { cert } = await tlsCertificate('another');
  await assert.rejects(sender(cert).send([issuedRecord(0)]), UNAVAILABLE);
  assert.deepEqual(seen, []);
});

test('a ledger that takes nothing is said to be reached, with its own reason', async () => {
  answer = { status: 503, body: 'this replica does not lead, or has no key yet\n' };
  await assert.rejects(sender().send([issuedRecord(0)]), (error: Error) => {
    assert.match(
      error.message,
      /takes no records now: this replica does not lead, or has no key yet \(HTTP 503\)/,
    );
    assert.doesNotMatch(error.message, /cannot be reached/);
    return true;
  });
});

test('no message repeats the token or what a record holds', async () => {
  answer = { status: 500, body: 'x'.repeat(10_000) };
  await assert.rejects(sender().send([issuedRecord(0)]), (error: Error) => {
    assert.doesNotMatch(error.message, /secret-token|pod-0/);
    return error.message.length < 1000;
  });
});
