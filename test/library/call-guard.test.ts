// SPDX-License-Identifier: Apache-2.0
/** What an author’s functions are given, and what they cannot do. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { COMPONENTS } from '#install/component-list.ts';
import { PermanentError, defineAuthority, type Context } from '#library/index.ts';
import {
  CALL_MS,
  CSR,
  ISSUER,
  SIGNER_NAME,
  csrObject,
  issuerObject,
  startReady,
  startWorld,
  type World,
} from './world.ts';

let it: World;
afterEach(() => it.stop());

const secret = (
  annotations: Readonly<Record<string, string>>,
): Parameters<World['api']['put']>[1] => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'login',
    namespace: 'countersign-keys',
    uid: 'login',
    resourceVersion: '1',
    creationTimestamp: '2026-11-21T06:00:00Z',
    annotations,
  },
  data: { token: Buffer.from('sesame').toString('base64') },
});
const SECRET = '/api/v1/namespaces/countersign-keys/secrets/login';
const GRANTED = { 'countersign.dev/signer-name': SIGNER_NAME };

async function checked(
  check: (ctx: Context) => Promise<unknown>,
  annotations: Readonly<Record<string, string>> | undefined,
): Promise<void> {
  it = await startWorld({ secrets: () => ['login'] });
  it.author.check = async (_issuer, ctx) => {
    await check(ctx);
  };
  if (annotations !== undefined) it.api.put(SECRET, secret(annotations));
  it.api.put(ISSUER, issuerObject());
  await it.settle();
}

test('a Secret that secrets() names and whose owner grants it is read and decoded', async () => {
  let read: unknown;
  await checked(async (ctx) => {
    read = await ctx.secret('login');
  }, GRANTED);
  assert.deepEqual(read, { token: new Uint8Array(Buffer.from('sesame')) });
  assert.equal(it.ready()?.status, 'True');
});

const refusals: [
  what: string,
  name: string,
  annotations: Readonly<Record<string, string>> | undefined,
  says: RegExp,
][] = [
  ['it is not granted', 'login', {}, /lacks the annotation countersign\.dev\/signer-name/],
  [
    'it is granted to another',
    'login',
    { 'countersign.dev/signer-name': 'example.com/other' },
    /lacks/,
  ],
  ['it does not exist', 'login', undefined, /does not exist/],
  ['secrets() does not name it', 'other', GRANTED, /does not name/],
];

for (const [what, name, annotations, says] of refusals) {
  test(`a Secret is refused if ${what}, and the issuer’s Ready gives the reason`, async () => {
    await checked((ctx) => ctx.secret(name), annotations);
    assert.equal(it.ready()?.status, 'False');
    assert.match(it.ready()?.message ?? '', says);
  });
}

test('abandons a call that does not return in time, aborts its signal, and retries', async () => {
  it = await startReady();
  let aborted = false;
  it.author.sign = (_request, _issuer, { signal }) =>
    new Promise(() => {
      signal.addEventListener('abort', () => (aborted = true));
    });
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  await it.time.advance(CALL_MS);
  assert.ok(aborted);
  await it.time.advance(1_000);
  assert.equal(it.author.signs.length, 2);
});

test('a thrown value of any other kind counts as an ordinary error', async () => {
  it = await startReady();
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an author may
  it.author.sign = () => Promise.reject('just words');
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  await it.time.advance(60_000);
  const failed = it.conditionsOf(`${CSR}/a`).find(({ type }) => type === 'Failed');
  assert.equal(failed?.message, 'just words');
});

test('the outermost error type decides, however deeply errors are wrapped', async () => {
  it = await startReady();
  const cause = new Error('timeout', { cause: new PermanentError('no such profile') });
  it.author.sign = () => Promise.reject(new Error('CA said no', { cause }));
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.equal(it.conditionsOf(`${CSR}/a`)[1]?.message, 'CA said no');
});

const wrong = [
  ['name', { name: 'signer' }],
  ['name', { name: 'Capital' }],
  [
    'issuer.group',
    { issuer: { group: 'cert-manager.k8s.io', version: 'v1', kind: 'A', plural: 'as' } },
  ],
  ['issuer.kind', { issuer: { group: 'example.com', version: 'v1', kind: 'lower', plural: 'as' } }],
] as const;

for (const [field, change] of wrong) {
  test(`a definition with an invalid ${field} is refused: ${JSON.stringify(change)}`, async () => {
    it = await startReady();
    const right = {
      name: 'my-ca',
      issuer: { group: 'example.com', version: 'v1', kind: 'A', plural: 'as' },
      schema: { parse: () => undefined },
      check: () => Promise.resolve(),
      sign: () => Promise.reject(new Error('never')),
    };
    assert.throws(() => defineAuthority({ ...right, ...change }), { code: 'USAGE' });
  });
}

test('no author takes the name of a component, whose roles and Leases it would share', () => {
  const right = {
    issuer: { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' },
    schema: { parse: (value: unknown) => value },
    check: () => Promise.resolve(),
    sign: () => Promise.reject(new Error('not called')),
  };
  const names = [...COMPONENTS.keys(), 'operator', 'cert-manager-operator'];
  const taken = names.filter((name) => {
    try {
      return defineAuthority({ ...right, name }).name === name;
    } catch {
      return false;
    }
  });
  assert.deepEqual(taken, []);
});
