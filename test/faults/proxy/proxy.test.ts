// SPDX-License-Identifier: Apache-2.0
/** What the proxy does to calls and watches, seen from both of its sides. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createClient, type Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { decodeLines } from '#kube/watch/line-decoder.ts';
import { until } from '../../cluster/until.ts';
import { startScriptedServer, type ScriptedServer } from '../../support/kube/scripted-server.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { failure } from '../../support/kube/server-and-clients.ts';
import { newIdentity, startProxy, type Proxy } from './proxy.ts';

const PATIENCE_MS = 30_000;
let server: ScriptedServer;
let proxy: Proxy;
let client: Client;
const killed: string[] = [];

beforeEach(async () => {
  const tls = await tlsCertificate('upstream');
  server = await startScriptedServer(tls);
  killed.length = 0;
  proxy = await startProxy({
    upstream: { server: server.url, ca: tls.cert },
    seed: 1,
    kill: (name) => {
      killed.push(name);
      return Promise.resolve();
    },
  });
  const door = await proxy.open('signer');
  const credentials = { tls: { ca: proxy.ca }, authorization: 'Bearer of-the-signer' };
  client = createClient({
    connection: {
      server: door.url,
      credentials: () => Promise.resolve(credentials),
      invalidate: () => undefined,
    },
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'test/1',
  });
});
afterEach(async () => {
  await client.close();
  await proxy.stop();
  await server.stop();
});

const put = (): Promise<unknown> =>
  client.request({ method: 'PUT', path: '/things/a/status', body: { sent: true } });

test('the proxy forwards a call whole: token, body, query, status, response', async () => {
  const answered = client.request({ method: 'PUT', path: '/things/a', query: { x: '1' }, body: 5 });
  const call = await server.next();
  assert.equal(call.headers['authorization'], 'Bearer of-the-signer');
  assert.equal(call.body, '5');
  assert.equal(call.query.get('x'), '1');
  call.answer(200, { name: 'a' });
  assert.deepEqual(await answered, { name: 'a' });
  const [record] = proxy.traffic.find(({ method }) => method === 'PUT');
  assert.equal(record?.status, 200);
  assert.equal(record.fault, undefined);
});

test('answer: the server never gets the call; 502 has no JSON; Retry-After is sent', async () => {
  proxy.script.set('* PUT * nth 1 answer 429 retry-after 3\n* PUT * nth 1 answer 502');
  const throttled = await failure(put());
  assert.deepEqual([throttled.status, throttled.retryAfter], [429, 3_000]);
  assert.match((await failure(put())).message, /502.*Bad Gateway/);
  assert.equal(server.calls.length, 0);
  assert.deepEqual([...proxy.tally.counts().keys()], ['PUT: answer 429', 'PUT: answer 502']);
});

test('swallow: the server answers, the client never gets the response', async () => {
  server.always((call) => call.answer(200, {}));
  proxy.script.set('* PUT */status nth 1 swallow');
  assert.equal((await failure(put())).status, 0);
  assert.equal(server.calls.length, 1);
  assert.equal(proxy.traffic.find(() => true)[0]?.status, 200);
  await put();
});

test('cut ends the connection before the server answers, truncate after', async () => {
  server.always((call) => call.answer(200, { long: 'x'.repeat(1000) }));
  proxy.script.set('* PUT * nth 1 cut\n* PUT * nth 1 truncate');
  assert.equal((await failure(put())).status, 0);
  assert.equal(server.calls.length, 0);
  assert.equal((await failure(put())).status, 0);
  assert.equal(server.calls.length, 1);
});

test('hold: the call waits until it is released', async () => {
  server.always((call) => call.answer(200, {}));
  proxy.script.set('signer PUT * nth 1 hold');
  const answered = put();
  const held = await proxy.held();
  assert.deepEqual(
    [held.client, held.path, held.text],
    ['signer', '/things/a/status', '{"sent":true}'],
  );
  assert.equal(server.calls.length, 0);
  held.release();
  await answered;
});

test('kill: unsent the call is lost, sent and answered the server has it', async () => {
  server.always((call) => call.answer(200, {}));
  proxy.script.set(
    '* PUT * nth 1 kill unsent\n* PUT * nth 1 kill sent\n* PUT * nth 1 kill answered',
  );
  const left = new AbortController();
  const first = client.request({ method: 'PUT', path: '/a', body: 1, signal: left.signal });
  await until('it is killed', PATIENCE_MS, () => killed.length === 1);
  left.abort();
  await failure(first);
  assert.equal(server.calls.length, 0);
  await failure(put());
  await failure(put());
  assert.equal(server.calls.length, 2);
  assert.deepEqual(killed, ['signer', 'signer', 'signer']);
});

for (const rule of ['signer CONNECT * nth 1 silence', '* PUT * nth 1 silence']) {
  test(`${rule}: nothing comes, and the connection stays`, async () => {
    server.always((call) => call.answer(200, {}));
    proxy.script.set(rule);
    let settled = false;
    const silent = put().catch(() => (settled = true));
    await until('it is silent', PATIENCE_MS, () => proxy.tally.counts().size > 0);
    await client.request({ method: 'GET', path: '/other' }).catch(() => undefined);
    assert.equal(settled, false);
    proxy.cut();
    await silent;
    assert.ok(!server.calls.some(({ method }) => method === 'PUT'));
  });
}

test('a new certificate is served from the next connection on', async () => {
  server.always((call) => call.answer(200, {}));
  await put();
  const before = proxy.ca;
  proxy.changeCertificate(await newIdentity());
  assert.notEqual(proxy.ca, before);
  // This client's pool still trusts the old CA only; its open connection was ended.
  await until('it is told of the certificate', PATIENCE_MS, async () =>
    /certificate/.test((await failure(put())).message),
  );
});

const line = (name: string): string => JSON.stringify({ type: 'ADDED', object: { name } });
const BOOKMARK = JSON.stringify({ type: 'BOOKMARK', object: {} });
const END = '{"type":"BOOKMARK","object":{"annotations":{"k8s.io/initial-events-end":"true"}}}';

/** What a client reads of a watch whose server sends these lines, and then ends it. */
async function watched(script: string, sent: readonly string[]): Promise<readonly string[]> {
  proxy.script.set(script);
  const opening = client.stream({ method: 'GET', path: '/things', query: { watch: true } });
  const call = await server.next();
  call.lines(...sent.map((each): unknown => JSON.parse(each)));
  call.end();
  const got: string[] = [];
  try {
    for await (const each of decodeLines(await opening)) got.push(each);
  } catch {
    got.push('broken');
  }
  return got;
}

const [a, b, c] = [line('a'), line('b'), line('c')];

for (const [script, sent, got] of [
  ['', [a, b], [a, b]],
  ['* LINE * nth 2 drop', [a, b, c], [a, c]],
  ['* ADDED * nth 1 duplicate', [BOOKMARK, a, b], [BOOKMARK, a, a, b]],
  ['* LINE things nth 1 reorder', [a, b, c], [b, a, c]],
  ['* LINE * nth 2 cut', [a, b, c], [a, 'broken']],
  ['* LINE * nth 2 truncate', [a, b, c], [a, 'broken']],
  ['* LINE * nth 1 garble', [a, b], ['{"type":"ADDED","object":', b]],
  ['* BOOKMARK * drop', [a, END, BOOKMARK, b, BOOKMARK], [a, END, b]],
  ['other LINE * drop', [a], [a]],
] as const) {
  test(`watch lines with "${script}" arrive as the rule says`, async () => {
    assert.deepEqual(await watched(script, sent), got);
  });
}

test('answer, of a line: an ERROR event, and the end', async () => {
  const [first, second, third] = await watched('* LINE * nth 2 answer 410', [a, b, c]);
  assert.equal(first, a);
  const error = JSON.parse(second ?? '') as { type: string; object: { code: number } };
  assert.deepEqual([error.type, error.object.code], ['ERROR', 410]);
  assert.equal(third, 'broken');
});

test('the opening of a watch can be rejected', async () => {
  proxy.script.set('* WATCH * nth 1 answer 410\n* GET * cut');
  const refused = client.stream({ method: 'GET', path: '/things', query: { watch: true } });
  const error: unknown = await refused.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof KubeError && error.status === 410);
});

test('a rule tells a watch that resumes from a resourceVersion from one after a list', async () => {
  proxy.script.set('* RESUME * answer 410');
  const open = (query: Record<string, string>): Promise<unknown> =>
    client
      .stream({ method: 'GET', path: '/things', query: { watch: true, ...query } })
      .catch((thrown: unknown) => thrown);
  assert.ok((await open({ resourceVersion: '10' })) instanceof KubeError);
  server.always((call) => call.lines({ type: 'ADDED' }));
  assert.ok(!((await open({ sendInitialEvents: 'true' })) instanceof KubeError));
});
