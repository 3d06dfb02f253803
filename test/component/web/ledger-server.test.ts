// SPDX-License-Identifier: Apache-2.0
/** What the port of the ledger keeps of bodies: whoever reaches it can send. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import type { HttpsServer } from '#component/web/https-server.ts';
import { serveLedger, type LedgerServerInit } from '#component/web/ledger-server.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const MOST = 64 * 1024;
/** A law that does not hold waits for an answer that never comes. */
const PATIENCE = { timeout: 30_000 };

let directory = '';
let server: HttpsServer;
let running: Promise<void>;
let stop: AbortController;
let agent: Agent;
/** Set by each test. */
let append: LedgerServerInit['append'];
let api: LedgerServerInit['api'];
const bodies: unknown[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ledger-port-'));
  const { cert, key } = await tlsCertificate('ledger');
  await writeFile(join(directory, 'tls.crt'), cert);
  await writeFile(join(directory, 'tls.key'), key);
  agent = new Agent({ ca: cert, checkServerIdentity: () => undefined });
  stop = new AbortController();
  bodies.length = 0;
  api = ({ body }) => {
    bodies.push(body);
    return Promise.resolve({ status: 200, body: '{}' });
  };
  server = await serveLedger({
    listen: '127.0.0.1:0',
    flag: '--listen-ledger',
    directory,
    ...fakeTime(Date.now()),
    log: recordedLog(),
    measureNotAfter: () => undefined,
    appendPath: '/v1/append',
    maxBytes: MOST,
    append: (token, read) => append(token, read),
    file: () => Promise.resolve(undefined),
    api: (asked) => api(asked),
  });
  running = server.run(stop.signal);
  for (let turn = 0; turn < 400 && server.warnings().length > 0; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
afterEach(async () => {
  agent.destroy();
  stop.abort(new Error('stopped'));
  await running;
  await rm(directory, { recursive: true });
});

interface Sending {
  readonly sent: ClientRequest;
  readonly answer: Promise<string>;
}

/** A request whose body the caller writes and ends. */
function post(path = '/v1/append'): Sending {
  const sent = request({
    host: '127.0.0.1',
    port: server.port,
    path,
    method: 'POST',
    agent,
    headers: { authorization: 'Bearer one' },
  });
  const answer = once(sent, 'response').then(async ([response]: IncomingMessage[]) => {
    assert.ok(response !== undefined);
    return `${response.statusCode ?? 0} ${(await text(response)).trim()}`;
  });
  return { sent, answer };
}

/** Reads, and says how many bytes it got. */
const reading: LedgerServerInit['append'] = async (_token, read) => {
  const body = await read();
  return typeof body === 'string' ? { status: 200, body: String(body.length) } : body;
};

test('checks the sender before the body, and answers a refusal after it', PATIENCE, async () => {
  const asked = Promise.withResolvers<string>();
  append = (token) => {
    asked.resolve(token);
    return Promise.resolve({ status: 401, body: 'nobody' });
  };
  const { sent, answer } = post();
  const answers: string[] = [];
  const heard = answer.then((each) => answers.push(each));
  sent.write('[');
  assert.equal(await asked.promise, 'one');
  // An answer while the body comes is lost with the connection: these go to and fro meanwhile.
  for (let turn = 0; turn < 3; turn += 1) {
    const other = post('/elsewhere');
    other.sent.end();
    assert.match(await other.answer, /^405 /);
  }
  assert.deepEqual(answers, []);
  sent.end(Buffer.alloc(32 * MOST));
  await heard;
  assert.deepEqual(answers, ['401 nobody']);
});

test('reads a batch of the greatest size, and refuses one longer by a byte', PATIENCE, async () => {
  append = reading;
  for (const [bytes, expected] of [
    [MOST, `200 ${MOST}`],
    [MOST + 1, '413 the batch or object is too large'],
    [32 * MOST, '413 the batch or object is too large'],
  ] as const) {
    const { sent, answer } = post();
    sent.end(Buffer.alloc(bytes, 0x20));
    assert.equal(await answer, expected);
  }
});

test(
  'while four batches of the greatest size are in memory, a fifth must retry',
  PATIENCE,
  async () => {
    const [full, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let kept = 0;
    append = async (token, read) => {
      const answer = await reading(token, read);
      if (answer.status === 200 && answer.body === String(MOST)) {
        kept += 1;
        if (kept === 4) full.resolve(undefined);
        await gate.promise;
      }
      return answer;
    };
    const four = Array.from({ length: 4 }, () => {
      const { sent, answer } = post();
      sent.end(Buffer.alloc(MOST, 0x20));
      return answer;
    });
    await full.promise;
    const fifth = async (): Promise<string> => {
      const { sent, answer } = post();
      sent.end('[]');
      return answer;
    };
    assert.equal(await fifth(), '503 too many batches arrive at a time: send it again');
    gate.resolve(undefined);
    assert.deepEqual(await Promise.all(four), Array(4).fill(`200 ${MOST}`));
    assert.equal(await fifth(), '200 2');
  },
);

test('who goes away in the middle of a batch takes no room for longer', PATIENCE, async () => {
  for (let turn = 0; turn < 6; turn += 1) {
    const ended = Promise.withResolvers<string>();
    append = async (token, read) => {
      try {
        return await reading(token, read);
      } catch (error) {
        ended.resolve(String(error));
        throw error;
      }
    };
    const { sent, answer } = post();
    answer.catch(() => undefined);
    sent.on('error', () => undefined);
    await new Promise((resolve) => sent.write(Buffer.alloc(MOST - 1, 0x20), resolve));
    sent.destroy();
    assert.match(await ended.promise, /aborted/);
  }
  append = reading;
  const { sent, answer } = post();
  sent.end(Buffer.alloc(MOST, 0x20));
  assert.equal(await answer, `200 ${MOST}`);
});

test('an object of the API has 64 KiB at most', PATIENCE, async () => {
  const path = '/apis/ledger.countersign.dev/v1alpha1/erasures';
  const short = post(path);
  short.sent.end('{"kind":"Erasure"}');
  assert.equal(await short.answer, '200 {}');
  const long = post(path);
  long.sent.end(Buffer.alloc(64 * 1024 + 1, 0x20));
  assert.equal(await long.answer, '413 the batch or object is too large');
  assert.deepEqual(bodies, ['{"kind":"Erasure"}']);
});

test('the API learns when a client has read its answer, or has left', PATIENCE, async () => {
  const path = '/apis/ledger.countersign.dev/v1alpha1/records';
  const closed: Promise<void>[] = [];
  const begun = Promise.withResolvers<undefined>();
  api = (asked) => {
    closed.push(asked.closed);
    if (closed.length === 1) return Promise.resolve({ status: 200, body: '{}' });
    begun.resolve(undefined);
    return new Promise(() => undefined);
  };
  const read = post(path);
  read.sent.end('{}');
  assert.equal(await read.answer, '200 {}');
  await closed[0];
  const left = post(path);
  left.answer.catch(() => undefined);
  left.sent.on('error', () => undefined);
  left.sent.end('{}');
  await begun.promise;
  left.sent.destroy();
  await closed[1];
});

test('a refused client learns when to send its request again', PATIENCE, async () => {
  api = () => Promise.resolve({ status: 429, body: '{}', retryAfterSeconds: 1 });
  const { sent, answer } = post('/apis/ledger.countersign.dev/v1alpha1/records');
  const heard = once(sent, 'response');
  sent.end('{}');
  assert.equal(await answer, '429 {}');
  const [response] = (await heard) as IncomingMessage[];
  assert.equal(response?.headers['retry-after'], '1');
});
