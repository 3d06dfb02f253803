// SPDX-License-Identifier: Apache-2.0
/** The page Overview while its parts are being read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { renderToString } from 'preact-render-to-string';
import { countItems } from '#console/page-clients.ts';
import { overviewOf } from '#console/pages/overview.ts';
import { NO_RULES } from './no-rules.ts';
import { createReadings, type ConsoleInit, type KnownReadings } from '#console/readings.ts';
import { streamOverview } from '#console/server/overview-stream.ts';
import { overviewView } from '#console/views/overview.ts';
import type { Client } from '#kube/client/client.ts';
import { NOW, state } from '../operations/signer-states.ts';
import { installed, kubernetes, signersOf } from '../diagnose/check/well.ts';

const CHOICE = { now: NOW, show: undefined };
const NOTHING: KnownReadings = { reading: [], failures: [] };
const SIGNERS = { value: signersOf(state()) };
const WHOLE: KnownReadings = {
  facts: { kubernetes, installed, release: '1' },
  signers: SIGNERS,
  issued: { entries: [], places: ['the ledger'] },
  reading: undefined,
  failures: [],
};

const htmlOf = (known: KnownReadings): string =>
  renderToString(overviewView({ prefix: 'p', now: NOW }, overviewOf(known, CHOICE), {}));

test('without a part, the page shows what is read so far, and links to itself', () => {
  const reading = [
    { what: 'pods', count: 500 },
    { what: 'leases', count: 20, total: 70 },
  ];
  const html = htmlOf({ ...NOTHING, reading, signers: SIGNERS });
  assert.match(html, /So far: 500 pods, 20 of 70 leases\. <a href="\/p\/overview">Reload/);
  assert.match(html, /Signers \(1\)/);
  assert.match(html, /<h2>Findings<\/h2><p class="none">Being read/);
  assert.match(html, /data-stream="\/p\/stream\?page=overview"/);
});

test('a whole page follows no stream', () => {
  const html = htmlOf(WHOLE);
  assert.doesNotMatch(html, /data-stream|Being read|Reading/);
  assert.match(html, /class="verdict"/);
});

test('a failed read is shown with a link that reads again', () => {
  const html = htmlOf({ ...NOTHING, reading: undefined, failures: ['GET /x: timed out.'] });
  assert.match(html, /role="alert">Reading failed. GET \/x: timed out. <a /);
});

test('no part has more than 40 rows, and each has the number of all', () => {
  const many = Array.from({ length: 90 }, () => state());
  const model = overviewOf({ ...WHOLE, signers: { value: signersOf(...many) } }, CHOICE);
  assert.ok(model.signers !== undefined && 'value' in model.signers);
  assert.deepEqual([model.signers.value.rows.length, model.signers.value.total], [40, 90]);
});

test('the stream sends each new part once, and ends when the page is whole', async () => {
  const steps: KnownReadings[] = [NOTHING, NOTHING, { ...NOTHING, signers: SIGNERS }, WHOLE];
  const sent: string[] = [];
  const write = (chunk: string): Promise<void> => {
    sent.push(chunk.slice(0, 60));
    return Promise.resolve();
  };
  const readings = { now: () => 0, known: () => steps.shift() ?? WHOLE };
  const init = { readings, hasEnded: () => false, delay: () => turn() };
  await streamOverview(init, undefined, write, new AbortController().signal);
  assert.equal(sent.length, 4);
  assert.equal(sent.at(-1), 'event: whole\ndata: \n\n');
});

test('a stream ends with its session', async () => {
  const sent: string[] = [];
  const write = (chunk: string): Promise<void> => {
    sent.push(chunk);
    return Promise.resolve();
  };
  const readings = { now: () => 0, known: () => NOTHING };
  const init = { readings, hasEnded: () => true, delay: () => turn() };
  await streamOverview(init, undefined, write, new AbortController().signal);
  assert.deepEqual(sent, ['event: ended\ndata: \n\n']);
});

/** A client whose lists are empty. `answer` may hold them up, or fail. */
function clientOf(answer: (path: string) => Promise<object>): Client {
  return {
    request: async <T>({ path }: { readonly path: string }) => (await answer(path)) as T,
    stream: () => Promise.reject(new Error('no stream')),
    clockOffset: () => 0,
    close: () => Promise.resolve(),
  };
}

const LIST = { kind: 'List', apiVersion: 'v1', metadata: {}, items: [], groups: [], resources: [] };
const answerOf = (path: string): object =>
  path === '/version' ? { gitVersion: 'v1.37.0', major: '1', minor: '37' } : LIST;

function readingsOf(answer: (path: string) => Promise<object>, monotonic: () => number) {
  const init: ConsoleInit = {
    client: clientOf(answer),
    monotonic,
    clock: () => NOW,
    delay: () => turn(),
    random: (size) => new Uint8Array(size),
    release: '1',
    canAct: false,
    rules: NO_RULES,
    planRestarts: () => assert.fail(),
    propagationSeconds: 600,
    namespace: 'a',
    secretNamespace: 'b',
    servingSigner: 'c/d',
    searchIssued: () => Promise.resolve({ found: [], places: [] }),
  };
  return createReadings(init);
}

test('a read that takes longer than its result stays fresh is not sent twice', async () => {
  let now = 0;
  let listed = 0;
  const gate = Promise.withResolvers<undefined>();
  const answer = async (path: string): Promise<object> => {
    if (path.endsWith('/clustersigners')) listed += 1;
    await gate.promise;
    return answerOf(path);
  };
  const readings = readingsOf(answer, () => now);
  const first = readings.readAll();
  assert.ok(readings.known().reading !== undefined);
  now = 60_000;
  const second = readings.readAll();
  gate.resolve(undefined);
  await Promise.all([first, second]);
  assert.equal(listed, 1);
  assert.equal(readings.known().reading, undefined);
  now = 60_000 + 179_000;
  await readings.readAll();
  assert.equal(listed, 1, 'a read of 60 s answers for 180 s');
});

test('what was read is shown while it is read again, and a failure is reported', async () => {
  let now = 0;
  let isAway = false;
  const answer = (path: string): Promise<object> =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(answerOf(path));
  const readings = readingsOf(answer, () => now);
  await readings.readAll();
  now = 20_000;
  const again = readings.readAll();
  assert.ok(readings.known().facts !== undefined && readings.known().reading !== undefined);
  await again;
  isAway = true;
  now = 40_000;
  await assert.rejects(readings.readAll(), /away/);
  await turn();
  assert.match(readings.known().failures.join(), /^This page cannot be shown: away\. Reload/);
});

test('objects of lists are counted by their kind', async () => {
  const pages = [
    { items: [1, 2], metadata: { remainingItemCount: 3 } },
    { items: [3, 4, 5], metadata: {} },
  ];
  const { client, counts } = countItems(clientOf(() => Promise.resolve(pages.shift() ?? {})));
  const get = { method: 'GET', path: '/api/v1/pods' } as const;
  await client.request(get);
  assert.deepEqual(counts(), [{ what: 'pods', count: 2, total: 5 }]);
  await client.request(get);
  await client.request(get);
  assert.deepEqual(counts(), [{ what: 'pods', count: 5 }]);
});
