// SPDX-License-Identifier: Apache-2.0
/** However many requests wait and whatever fails, each certificate is paid about once. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openKeptChains } from '#requests/external-signer/kept-chains.ts';
import {
  CLIENT_TOKEN,
  LOST,
  POD,
  SIGNER,
  TOKEN,
  json,
  podObject,
  signerObject,
  startReady,
  World,
} from './world.ts';

let it: World;
beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

const PATHS = POD.replace('req-web-0', '');

/** Requests of many pods, in two namespaces. */
function createMany(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const pod = podObject({ podName: `web-${index}`, podUID: `pod-${index}` });
    const namespace = index % 2 === 0 ? 'team-a' : 'team-b';
    const metadata = { ...pod.metadata, namespace, name: `r-${index}`, uid: `request-${index}` };
    const path = `${PATHS.replace('team-a', namespace)}r-${index}`;
    it.api.put(path, { ...pod, metadata });
    return path;
  });
}

const issued = (paths: readonly string[]): number =>
  paths.filter((path) => it.conditionsOf(path).some(({ type }) => type === 'Issued')).length;

/** Lets minutes pass until all are issued. */
async function finish(paths: readonly string[]): Promise<void> {
  for (let turns = 0; turns < 600 && issued(paths) < paths.length; turns += 1)
    await it.advance(1_000);
  assert.equal(issued(paths), paths.length);
}

test('a throttled CA gets one call a pause, however many requests wait', async () => {
  it.vault.sign = () => json(429, { errors: ['rate limit quota exceeded'] });
  createMany(300);
  await it.settle();
  for (let seconds = 0; seconds < 60; seconds += 1) await it.advance(1_000);
  assert.ok(it.vault.orders.length <= 8, `${it.vault.orders.length} calls`);
  assert.match(it.ready()?.message ?? '', /retrying in \d+ s/);
});

test('as long as the CA says, nobody calls', async () => {
  it.vault.sign = () => json(429, { errors: [] }, { 'retry-after': '90' });
  createMany(20);
  await it.until(() => it.vault.orders.length === 1);
  for (let seconds = 0; seconds < 80; seconds += 10) await it.advance(10_000);
  assert.equal(it.vault.orders.length, 1);
});

test('a server that is back is used soon, whatever time it said before', async () => {
  const away = new World();
  const { login } = away.vault;
  away.vault.login = () => json(503, { errors: ['maintenance'] }, { 'retry-after': '31536000' });
  away.api.put(SIGNER, signerObject());
  await away.start();
  try {
    away.vault.login = login;
    away.api.put(POD, podObject());
    for (let minutes = 0; minutes < 10; minutes += 1) await away.advance(60_000);
    assert.equal(away.vault.orders.length, 1);
  } finally {
    await away.stop();
  }
});

test('a lost answer costs one more certificate, and no second one', async () => {
  const { sign } = it.vault;
  it.vault.sign = (body) => {
    it.vault.sign = sign;
    it.vault.signed(body);
    return LOST;
  };
  await finish(createMany(10));
  assert.equal(it.vault.orders.length, 11);
});

test('with faults of the CA, each certificate is issued once, and lost ones once more', async () => {
  let calls = 0;
  let certificates = 0;
  let lost = 0;
  it.vault.sign = (body) => {
    calls += 1;
    if (calls % 7 === 0) return json(503, { errors: ['Vault is sealed'] });
    if (calls % 11 === 0) return json(429, { errors: [] });
    certificates += 1;
    if (calls % 29 !== 0) return it.vault.signed(body);
    lost += 1;
    return LOST;
  };
  const paths = createMany(200);
  await finish(paths);
  assert.equal(certificates, paths.length + lost);
});

test('two requests of one pod and key at once cost one order', async () => {
  const { sign } = it.vault;
  let answer: () => void = () => undefined;
  it.vault.sign = async (body) => {
    await new Promise<void>((resolve) => (answer = resolve));
    return sign(body);
  };
  const pod = podObject();
  const paths = ['first', 'second'].map((name) => `${PATHS}${name}`);
  for (const path of paths) {
    const name = path.slice(PATHS.length);
    it.api.put(path, { ...pod, metadata: { ...pod.metadata, name, uid: `request-${name}` } });
  }
  await it.until(() => it.vault.orders.length > 0);
  await it.settle();
  it.vault.sign = sign;
  answer();
  await it.until(() => issued(paths) === paths.length);
  assert.deepEqual([issued(paths), it.vault.orders.length], [2, 1]);
});

test('a chain survives a crash and an API server that takes no write', async () => {
  const { client } = it.api;
  let isAway = true;
  const request: typeof client.request = (init) =>
    isAway && init.method === 'PUT' && init.path.startsWith(POD)
      ? Promise.reject(new Error('the API server is away'))
      : client.request(init);
  await it.end();
  await it.start({ client: { ...client, request } });
  it.api.put(POD, podObject());
  await it.until(() => readdirSync(it.directory).some((name) => name.endsWith('.json')));
  await it.settle();
  await it.end();
  isAway = false;
  await it.start();
  await it.until(() => it.outcome().length > 0);
  assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 1]);
});

test('a chain that can no longer be delivered is ordered again at once', async () => {
  const { client } = it.api;
  let isAway = true;
  const request: typeof client.request = (init) =>
    isAway && init.method === 'PUT' && init.path.startsWith(POD)
      ? Promise.reject(new Error('the API server is away'))
      : client.request(init);
  await it.end();
  await it.start({ client: { ...client, request } });
  it.api.put(POD, podObject());
  await it.until(() => it.vault.orders.length === 1);
  await it.settle();
  for (let seconds = 0; seconds < 310; seconds += 10) await it.advance(10_000);
  isAway = false;
  for (let seconds = 0; seconds < 60; seconds += 10) await it.advance(10_000);
  assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 2]);
});

test('a login that is denied orders nothing, and is tried again', async () => {
  const { login } = it.vault;
  it.vault.login = () => json(403, { errors: [`permission denied for ${TOKEN}`] });
  it.api.put(SIGNER, signerObject({}, { role: 'others' }));
  await it.until(() => it.ready()?.reason === 'LoginDenied');
  assert.match(it.ready()?.message ?? '', /must allow the ServiceAccount/);
  it.vault.login = login;
  await it.advance(10_000);
  await it.until(() => it.ready()?.reason === 'Checked');
});

test('a signature that is denied is tried at once, and then less and less', async () => {
  it.vault.sign = () => json(403, { errors: ['permission denied'] });
  createMany(20);
  for (let seconds = 0; seconds < 60; seconds += 1) await it.advance(1_000);
  assert.ok(it.vault.orders.length <= 8, `${it.vault.orders.length} orders`);
  assert.equal(it.ready()?.reason, 'RequestDenied');
  assert.match(it.ready()?.message ?? '', /must allow update on this path/);
});

test('a stop waits for an order that runs, and its certificate is not paid again', async () => {
  const { sign } = it.vault;
  let answer: () => void = () => undefined;
  it.vault.sign = async (body) => {
    await new Promise<void>((resolve) => (answer = resolve));
    return sign(body);
  };
  it.api.put(POD, podObject());
  await it.until(() => it.vault.orders.length === 1);
  const ended = it.end();
  await it.settle();
  answer();
  await ended;
  it.vault.sign = sign;
  await it.start();
  await it.until(() => it.outcome().length > 0);
  assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 1]);
});

test('a replica that does not lead orders nothing', async () => {
  await it.end();
  await it.start({ shard: { owns: () => false, onChange: () => undefined } });
  it.api.put(POD, podObject());
  await it.advance(120_000);
  assert.equal(it.vault.orders.length, 0);
});

test('no log line, status or Event has a token', async () => {
  it.vault.sign = () => json(400, { errors: [`${CLIENT_TOKEN} may not; ${TOKEN} neither`] });
  it.api.put(POD, podObject());
  await it.until(() => it.component.notes.some(({ reason }) => reason.startsWith('Refused')));
  const said = JSON.stringify([it.component.log.lines, it.component.notes, it.api.get(SIGNER)]);
  for (const token of [TOKEN, CLIENT_TOKEN]) assert.ok(!said.includes(token.slice(-20)));
});

test('files that are none of its own are removed from the directory of chains', async () => {
  for (const name of ['x', `${'0'.repeat(64)}.json`, `${'1'.repeat(64)}.json.new`])
    writeFileSync(join(it.directory, name), '{');
  const chains = await openKeptChains(it.directory, it.component);
  assert.equal(chains.get('0'.repeat(64)), undefined);
  assert.deepEqual(readdirSync(it.directory), []);
});

test('a directory that cannot be written is reported, and chains stay in memory', async () => {
  const file = join(it.directory, 'file');
  writeFileSync(file, '');
  const chains = await openKeptChains(file, it.component);
  await chains.keep('a', { chain: 'chain' });
  assert.deepEqual(chains.get('a'), { chain: 'chain' });
  assert.match(chains.fault() ?? '', /a restart may order certificates again/);
});
