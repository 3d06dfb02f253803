// SPDX-License-Identifier: Apache-2.0
/** Issuers of a namespaced kind are bounded as Signers are: namespaces share one process. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createIssuerQuota } from '#library/issuers/issuer-quota.ts';
import type { Thing } from '../support/kube/memory-api.ts';
import { issuerObject, startWorld, type World } from './world.ts';

const KIND = { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' };
/** As in src/component/signers/signer-quota.ts. */
const MAX_PER_NAMESPACE = 32;
const MAX_SPEC_TEXT = 65_536;

let it: World;
afterEach(() => it.stop());

const pathOf = (namespace: string, name: string): string =>
  `/apis/example.com/v1/namespaces/${namespace}/testissuers/${name}`;

function putIssuer(
  namespace: string,
  name: string,
  {
    spec = {},
    ...metadata
  }: { readonly spec?: object; readonly annotations?: Readonly<Record<string, string>> } = {},
): void {
  const more = { ...metadata, namespace, name, uid: `${namespace}-${name}`, generation: 1 };
  it.api.put(pathOf(namespace, name), issuerObject(spec, more));
}

function annotate(path: string, annotations: Readonly<Record<string, string>>): void {
  const now = it.api.get(path);
  assert.ok(now !== undefined);
  it.api.put(path, { ...now, metadata: { ...now.metadata, annotations } });
}

function readyOf(namespace: string, name: string): { reason?: string; message?: string } {
  return it.conditionsOf(pathOf(namespace, name)).find(({ type }) => type === 'Ready') ?? {};
}

const checked = (namespace: string): number =>
  new Set(it.author.checks.filter((each) => each.namespace === namespace).map(({ uid }) => uid))
    .size;

test('a namespace has a maximum of issuers; each beyond it reports that', async () => {
  it = await startWorld({ issuer: { ...KIND, namespaced: true } });
  for (let index = 0; index <= MAX_PER_NAMESPACE; index += 1) putIssuer('crowd', `i${index}`);
  putIssuer('honest', 'one');
  await it.settle();
  await it.settle();
  assert.equal(checked('crowd'), MAX_PER_NAMESPACE);
  assert.equal(readyOf('honest', 'one').reason, 'Checked');
  const beyond = readyOf('crowd', `i${MAX_PER_NAMESPACE}`);
  assert.equal(beyond.reason, 'QuotaExceeded');
  assert.match(beyond.message ?? '', /already has 32 testissuers/);
  it.api.remove(pathOf('crowd', 'i0'));
  annotate(pathOf('crowd', `i${MAX_PER_NAMESPACE}`), { again: 'yes' });
  await it.settle();
  assert.equal(readyOf('crowd', `i${MAX_PER_NAMESPACE}`).reason, 'Checked');
});

test('an issuer with a long spec is invalid, and serves after it is shortened', async () => {
  it = await startWorld({ issuer: { ...KIND, namespaced: true } });
  const authority = { url: 'https://ca.example.com', note: 'x'.repeat(MAX_SPEC_TEXT) };
  putIssuer('team-a', 'one', { spec: { authority } });
  await it.settle();
  assert.match(readyOf('team-a', 'one').message ?? '', /more than 65536 characters/);
  putIssuer('team-a', 'one');
  await it.settle();
  assert.equal(readyOf('team-a', 'one').reason, 'Checked');
});

test('a change of a long annotation still triggers a check', async () => {
  it = await startWorld({ issuer: { ...KIND, namespaced: true } });
  const long = 'x'.repeat(200_000);
  putIssuer('team-a', 'one', { annotations: { note: long } });
  await it.settle();
  assert.equal(it.author.checks.length, 1);
  annotate(pathOf('team-a', 'one'), { note: `${long}y` });
  await it.settle();
  assert.equal(it.author.checks.length, 2);
});

test('of an issuer that is not served the identity and its Ready condition are kept', () => {
  const quota = createIssuerQuota('testissuers');
  const long = 'x'.repeat(200_000);
  const status = { conditions: [{ type: 'Ready', status: 'True', message: long }], more: long };
  const object = (name: string): Thing => ({
    ...issuerObject({}, { namespace: 'crowd', name, annotations: { note: long } }),
    status,
  });
  for (let index = 0; index < MAX_PER_NAMESPACE; index += 1) {
    const reduced = quota.reduce(object(`i${index}`));
    assert.equal(quota.admit(reduced), undefined);
    assert.ok(JSON.stringify(reduced).length < 8_192, 'an oversized status and annotations go');
  }
  const beyond = quota.reduce(object('late'));
  assert.notEqual(quota.admit(beyond), undefined);
  assert.ok(!('spec' in beyond) && JSON.stringify(beyond).length < 4_096);
  quota.release('crowd/i0');
  assert.equal(quota.admit(quota.reduce(object('late'))), undefined);
});

test('a cluster-scoped kind has no such limits: administrators write it', async () => {
  it = await startWorld();
  for (let index = 0; index <= MAX_PER_NAMESPACE; index += 1) {
    const name = `i${index}`;
    it.api.put(`/apis/example.com/v1/testissuers/${name}`, issuerObject({}, { name, uid: name }));
  }
  await it.settle();
  await it.settle();
  assert.equal(it.author.checks.length, MAX_PER_NAMESPACE + 1);
});
