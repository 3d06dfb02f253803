// SPDX-License-Identifier: Apache-2.0
/** Requests that a CA does not serve leave the other namespaces and signers alone. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import {
  CSR,
  POD,
  SERVER,
  SIGNER,
  SIGNER_NAME,
  csrObject,
  json,
  podObject,
  signerObject,
  startReady,
  World,
} from './world.ts';

let it: World;
/** Lets a slow CA answer at once, since a stop waits for the orders that run. */
let release: () => void = () => undefined;
beforeEach(async () => {
  it = await startReady();
});
afterEach(async () => {
  release();
  await it.stop();
});

const PATHS = POD.replace('req-web-0', '');

/** Creates the request of a pod. */
function put(namespace: string, pod: string, spec: object = {}): string {
  const object = podObject({ podName: pod, podUID: `uid-${pod}`, ...spec });
  const metadata = { ...object.metadata, namespace, name: `r-${pod}`, uid: `request-${pod}` };
  const path = `${PATHS.replace('team-a', namespace)}r-${pod}`;
  it.api.put(path, { ...object, metadata });
  return path;
}

const isIssued = (path: string): boolean =>
  it.conditionsOf(path).some(({ type }) => type === 'Issued');

async function pass(seconds: number): Promise<void> {
  for (let count = 0; count < seconds; count += 1) await it.advance(1_000);
}

/** Answers the pods whose names begin with `bad` with this status, and signs for the others. */
function rejectBadNames(status: number): void {
  const { sign } = it.vault;
  it.vault.sign = (body) =>
    String(body['alt_names']).startsWith('bad') ? json(status, { errors: ['no'] }) : sign(body);
}

const badOrders = (): number =>
  it.vault.orders.filter(({ body = '' }) => body.includes('"bad-')).length;

for (const [status, bad] of [
  [403, 1],
  [403, 5],
  [500, 1],
  [500, 5],
] as const) {
  test(`${bad} pods that get ${status} do not stop the pods of other namespaces`, async () => {
    rejectBadNames(status);
    for (let index = 0; index < bad; index += 1) put('team-a', `bad-${index}`);
    const paths: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      paths.push(put('team-b', `ok-${index}`));
      await it.advance(3_000);
    }
    await pass(60);
    assert.equal(paths.filter(isIssued).length, paths.length, it.ready()?.message);
    assert.ok(badOrders() <= 10 * bad, `${badOrders()} orders`);
  });
}

for (const [status, namespaces] of [
  [403, 2],
  [500, 2],
  [403, 3],
  [500, 3],
  [403, 6],
] as const) {
  test(`${namespaces} namespaces that get ${status} do not stop the others`, async () => {
    rejectBadNames(status);
    for (let index = 0; index < namespaces; index += 1) put(`bad-${index}`, `bad-${index}`);
    const paths: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      paths.push(put('team-b', `ok-${index}`));
      await it.advance(3_000);
    }
    await pass(120);
    assert.equal(paths.filter(isIssued).length, paths.length, it.ready()?.message);
  });
}

test('a denial is not shown any more once its request is gone', async () => {
  it.vault.sign = () => json(403, { errors: ['permission denied'] });
  const path = put('team-a', 'web-1');
  await pass(30);
  assert.equal(it.ready()?.reason, 'RequestDenied');
  it.api.remove(path);
  for (let minutes = 0; minutes < 15; minutes += 1) await it.advance(60_000);
  assert.equal(it.ready()?.reason, 'Checked');
});

test('a pod that is denied does not stop the other pods of its namespace for good', async () => {
  rejectBadNames(403);
  put('team-a', 'bad-0');
  const paths: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    paths.push(put('team-a', `ok-${index}`));
    await it.advance(3_000);
  }
  await pass(60);
  assert.equal(paths.filter(isIssued).length, paths.length);
  assert.ok(badOrders() <= 10, `${badOrders()} orders`);
});

test('a policy that denies the only namespace is shown, until an answer is accepted', async () => {
  const { sign } = it.vault;
  it.vault.sign = () => json(403, { errors: ['permission denied'] });
  const path = put('team-a', 'web-1');
  await pass(30);
  assert.equal(it.ready()?.reason, 'RequestDenied');
  assert.ok(it.component.notes.some(({ reason }) => reason === 'RefusedByExternalCA'));
  it.vault.sign = sign;
  await pass(90);
  assert.deepEqual([isIssued(path), it.ready()?.reason], [true, 'Checked']);
});

test('a CA that is down gets one order a pause, however many namespaces wait', async () => {
  it.vault.sign = () => json(503, { errors: ['Vault is sealed'] });
  for (let index = 0; index < 30; index += 1) put(`team-${index}`, `web-${index}`);
  await pass(60);
  assert.ok(it.vault.orders.length <= 8, `${it.vault.orders.length} orders`);
});

test('a login that Vault ended costs the pod no delay', async () => {
  const { sign } = it.vault;
  it.vault.sign = () => {
    it.vault.sign = sign;
    return json(403, { errors: ['invalid token'] });
  };
  const path = put('team-a', 'web-1');
  await it.until(() => isIssued(path));
  assert.deepEqual([isIssued(path), it.vault.orders.length], [true, 2]);
});

const OTHER = 'example.com/other';
const PKI = ['digital signature', 'client auth', 'server auth'] as const;

/** Creates another signer, whose CA is another server, and makes the first CA slow. */
async function addSecondCa(ms: number): Promise<void> {
  const other = signerObject({ signerName: OTHER }, { server: 'https://vault.example.com' });
  const metadata = { ...other.metadata, name: 'other', uid: 'signer-other' };
  it.api.put(SIGNER.replace('corporate', 'other'), { ...other, metadata });
  await it.settle();
  const { send } = it.vault;
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow: typeof send = async (call) => {
    if (call.url.startsWith(`${SERVER}/v1/pki/sign/`))
      await Promise.race([it.time.delay(ms), released]);
    return send(call);
  };
  Object.assign(it.vault, { send: slow });
}

test('a slow CA of one signer does not delay the pods of another signer', async () => {
  await it.stop();
  it = new World();
  it.api.put(SIGNER, signerObject());
  await addSecondCa(10_000);
  await it.start();
  const slow: string[] = [];
  for (let index = 0; index < 100; index += 1)
    slow.push(put(`team-${index % 20}`, `slow-${index}`, { nodeName: 'node-1' }));
  await it.settle();
  for (let index = 0; index < 15; index += 1) {
    const path = put('team-1', `ok-${index}`, { signerName: OTHER, nodeName: 'node-2' });
    await pass(3);
    assert.ok(isIssued(path), `pod ${index}`);
  }
  await pass(120);
  assert.equal(slow.filter(isIssued).length, slow.length);
});

test('a slow CA of one signer does not delay the users of another signer', async () => {
  await it.stop();
  it = new World();
  it.api.put(SIGNER, signerObject());
  await addSecondCa(10_000);
  await it.start();
  const created = (name: string, signerName: string, username: string): string => {
    const object = csrObject({ usages: PKI, username });
    const metadata = { ...object.metadata, name, uid: `uid-${name}` };
    const path = CSR.replace(/a$/, name);
    it.api.put(path, { ...object, metadata, spec: { ...Object(object.spec), signerName } });
    return path;
  };
  for (let index = 0; index < 60; index += 1)
    created(`slow-${index}`, SIGNER_NAME, `user-${index % 20}`);
  await it.settle();
  const path = created('ok', OTHER, 'user-1');
  await pass(3);
  assert.ok(JSON.stringify(it.api.get(path)?.status).includes('"certificate"'));
});

/** Creates a signer of its own name, at this place. */
function addSigner(name: string, vault: object): void {
  const object = signerObject({ signerName: `example.com/${name}` }, vault);
  const metadata = { ...object.metadata, name, uid: `signer-${name}` };
  it.api.put(SIGNER.replace('corporate', name), { ...object, metadata });
}

test('checks that get no answer do not delay the check of another CA', async () => {
  await it.stop();
  it = new World();
  const { send } = it.vault;
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow: typeof send = async (call) => {
    if (call.url.startsWith(SERVER)) await Promise.race([it.time.delay(20_000), released]);
    return send(call);
  };
  Object.assign(it.vault, { send: slow });
  it.api.put(SIGNER, signerObject({}, { server: 'https://vault.example.com' }));
  await it.start();
  for (let index = 0; index < 8; index += 1) addSigner(`slow-${index}`, { role: `r-${index}` });
  await it.settle();
  addSigner('other', { server: 'https://vault.example.com' });
  await pass(3);
  const path = put('team-a', 'web-1', { signerName: OTHER });
  await pass(2);
  assert.ok(isIssued(path));
});

test('requests of one pod and key do not delay the pods of another signer', async () => {
  await it.stop();
  it = new World();
  it.api.put(SIGNER, signerObject());
  await addSecondCa(10_000);
  await it.start();
  const { metadata, ...pod } = podObject({ nodeName: 'node-1' });
  for (let index = 0; index < 60; index += 1) {
    const names = { ...metadata, name: `r-${index}`, uid: `request-${index}` };
    it.api.put(`${PATHS}r-${index}`, { ...pod, metadata: names });
  }
  await it.settle();
  const path = put('team-a', 'ok', { signerName: OTHER, nodeName: 'node-2' });
  await pass(3);
  assert.ok(isIssued(path));
});
