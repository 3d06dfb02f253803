// SPDX-License-Identifier: Apache-2.0
/** Requests that wait for a CA cost little, and none of them waits for good. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CSR, POD, SIGNER, csrObject, json, podObject, startReady, type World } from './world.ts';

const USAGES = ['digital signature', 'client auth', 'server auth'] as const;

let it: World;
/** Lets the CA answer, since a stop waits for the orders that run. */
let release: () => void;
let released: Promise<void>;
beforeEach(async () => {
  it = await startReady();
  released = new Promise((resolve) => (release = resolve));
});
afterEach(async () => {
  release();
  await it.stop();
});

/** Makes the CA answer no order until {@link release}. */
function holdAnswers(): void {
  const { sign } = it.vault;
  it.vault.sign = async (body) => {
    await released;
    return sign(body);
  };
}

test('a large request that waits for the CA is not kept in memory', async () => {
  const { client } = it.api;
  const read: WeakRef<object>[] = [];
  const request: typeof client.request = async <T>(init: Parameters<typeof client.request>[0]) => {
    const object = await client.request<T>(init);
    if (init.method !== 'GET' || !init.path.startsWith(`${CSR}-`)) return object;
    const copy = structuredClone(object);
    read.push(new WeakRef(copy as object));
    return copy;
  };
  await it.end();
  await it.start({ client: { ...client, request } });
  holdAnswers();
  const notes = { notes: 'x'.repeat(20_000) };
  for (let index = 0; index < 40; index += 1) {
    const object = csrObject({ usages: USAGES, username: `user-${index}` });
    const metadata = { ...object.metadata, name: `a-${index}`, uid: `uid-${index}` };
    it.api.put(`${CSR}-${index}`, { ...object, metadata: { ...metadata, annotations: notes } });
  }
  await it.settle();
  assert.equal(read.length, 40);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  await it.settle();
  // One call runs, and eight more wait for it with their requests.
  assert.equal(read.filter((each) => each.deref() !== undefined).length, 9);
});

test('an order that fails unexpectedly gives its turn back', async () => {
  const { sign } = it.vault;
  it.vault.sign = () => {
    it.vault.sign = sign;
    return Promise.reject(new Error('unexpected'));
  };
  it.api.put(POD, podObject());
  for (let seconds = 0; seconds < 30; seconds += 1) await it.advance(1_000);
  assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 2]);
});

test('a status that cannot be written does not keep requests waiting', async () => {
  const { client } = it.api;
  let isDenied = false;
  const request: typeof client.request = (init) =>
    isDenied && init.method === 'PUT' && init.path.startsWith(SIGNER)
      ? Promise.reject(new Error('the status is not written'))
      : client.request(init);
  await it.end();
  await it.start({ client: { ...client, request } });
  const { login } = it.vault;
  it.vault.login = () => json(503, { errors: ['Vault is sealed'] });
  await it.advance(240_000);
  await it.until(() => it.ready()?.reason === 'Unavailable');
  it.api.put(POD, podObject());
  isDenied = true;
  it.vault.login = login;
  for (let seconds = 0; seconds < 30; seconds += 1) await it.advance(1_000);
  assert.deepEqual(it.outcome(), ['Issued']);
});

test('a hold from a clock that was ahead does not outlast the longest one', async () => {
  await it.end();
  const signer = it.api.get(SIGNER);
  assert.ok(signer !== undefined);
  const status = { observedGeneration: 1, retryAt: '2099-01-01T00:00:00Z', refusedAnswers: 2 };
  it.api.put(SIGNER, { ...signer, status: { ...Object(signer.status), ...status } });
  it.api.put(POD, podObject());
  await it.start();
  for (let minutes = 0; minutes < 95; minutes += 1) await it.advance(60_000);
  assert.deepEqual(it.outcome(), ['Issued']);
});

test('a stop orders nothing for the requests that wait, also while a check runs', async () => {
  const { login } = it.vault;
  it.vault.login = async () => {
    await released;
    return login();
  };
  await it.advance(240_000);
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  it.vault.sign = async (body) => {
    await answered;
    return it.vault.signed(body);
  };
  for (let index = 0; index < 5; index += 1) {
    const pod = podObject({ podName: `web-${index}`, podUID: `pod-${index}` });
    const metadata = { ...pod.metadata, name: `r-${index}`, uid: `request-${index}` };
    it.api.put(POD.replace('req-web-0', `r-${index}`), { ...pod, metadata });
  }
  await it.until(() => it.vault.orders.length === 1);
  await it.settle();
  const ended = it.end();
  answer();
  await it.settle();
  release();
  await ended;
  assert.equal(it.vault.orders.length, 1);
  await it.start();
});
