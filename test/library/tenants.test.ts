// SPDX-License-Identifier: Apache-2.0
/** What one namespace’s issuers cost the others, where an author’s kind is namespaced. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { IssuerError } from '#library/index.ts';
import { NOW } from '../support/pki/chain.ts';
import { CALL_MS, CSR, csrObject, issuerObject, startWorld, type World } from './world.ts';

const KIND = { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' };
const NAMESPACED = { issuer: { ...KIND, namespaced: true } };

let it: World;
afterEach(() => it.stop());

function putIssuer(namespace: string, name: string, spec: object = {}): void {
  const path = `/apis/example.com/v1/namespaces/${namespace}/testissuers/${name}`;
  it.api.put(path, issuerObject(spec, { namespace, name, uid: `${namespace}-${name}` }));
}

const readyOf = (namespace: string, name: string): string | undefined =>
  it
    .conditionsOf(`/apis/example.com/v1/namespaces/${namespace}/testissuers/${name}`)
    .find(({ type }) => type === 'Ready')?.reason;

/** CAs of a namespace, which accept a connection and never answer. */
const HANGING = 200;

test('hanging CAs of one namespace delay no check of another namespace', async () => {
  it = await startWorld(NAMESPACED);
  it.author.check = ({ namespace }) =>
    namespace === 'hostile' ? new Promise(() => undefined) : Promise.resolve();
  for (let count = 0; count < HANGING; count += 1) putIssuer('hostile', `ca-${count}`);
  await it.time.advance(3 * CALL_MS);
  putIssuer('honest', 'one');
  await it.settle();
  assert.equal(readyOf('honest', 'one'), 'Checked');
});

test('an issuer of a namespace without a grant does not make the process unready', async () => {
  it = await startWorld({ ...NAMESPACED, secrets: ({ url }) => [url] });
  const before = JSON.stringify(it.permissions());
  putIssuer('hostile', 'one', { authority: { url: 'no-such-secret' } });
  await it.settle();
  assert.equal(readyOf('hostile', 'one'), 'Checked', 'it is served');
  assert.equal(JSON.stringify(it.permissions()), before);
});

test('a CSR that is older than an issuer of a namespace stays unsigned', async () => {
  it = await startWorld(NAMESPACED);
  const later = new Date(NOW + 3_600_000).toISOString();
  const path = '/apis/example.com/v1/namespaces/team-a/testissuers/one';
  const mine = { namespace: 'team-a', name: 'one', uid: 'second', creationTimestamp: later };
  const csr = csrObject('for-the-former-owner');
  const spec = { ...(csr.spec as object), signerName: 'testissuers.example.com/team-a.one' };
  it.api.put(`${CSR}/for-the-former-owner`, { ...csr, spec });
  it.api.put(path, issuerObject({}, mine));
  await it.settle();
  assert.equal(readyOf('team-a', 'one'), 'Checked');
  assert.equal(it.author.signs.length, 0);
});

test('an issuer of the cluster does: its roles are an administrator’s', async () => {
  it = await startWorld({ secrets: () => ['login'] });
  it.api.put('/apis/example.com/v1/testissuers/one', issuerObject());
  await it.settle();
  const names = it.permissions().flatMap(({ resourceNames = [] }) => resourceNames);
  assert.ok(names.includes('login') && names.includes('testissuers.example.com/one'), names.join());
});

test('an issuer whose secrets() throws or returns an invalid name is itself invalid', async () => {
  it = await startWorld({
    secrets: ({ url }) => {
      if (url === 'bad') throw new TypeError('no such field');
      return [url];
    },
  });
  const put = (url: string): void => {
    it.api.put('/apis/example.com/v1/testissuers/one', issuerObject({ authority: { url } }));
  };
  for (const url of ['bad', '..', 'a/b', '']) {
    put(url);
    await it.settle();
    assert.doesNotThrow(it.permissions);
    assert.equal(it.ready()?.reason, 'InvalidSpec', url);
  }
  put('login');
  await it.settle();
  assert.equal(it.ready()?.reason, 'Checked');
});

test('a Secret that the process may not read is told on the issuer, not on the process', async () => {
  it = await startWorld({ ...NAMESPACED, secrets: () => ['login'] });
  it.author.check = async (_issuer, ctx) => {
    await ctx.secret('login').catch((error: unknown) => {
      throw new IssuerError('no Secret', { cause: error });
    });
  };
  putIssuer('team-a', 'one');
  await it.settle();
  assert.equal(readyOf('team-a', 'one'), 'Pending');
});
