// SPDX-License-Identifier: Apache-2.0
/**
 * The behaviours of issuer-lib's README for requests, one by one: each test is named by its
 * sentence.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { IssuerError, PendingError, PermanentError, SetConditionError } from '#library/index.ts';
import {
  APPROVED,
  CSR,
  ISSUER,
  MAX_RETRY_MS,
  csrObject,
  issuerObject,
  fail,
  ok,
  startReady,
  type World,
} from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

const A = `${CSR}/a`;

async function create(name = 'a', conditions?: readonly Condition[]): Promise<void> {
  it.api.put(`${CSR}/${name}`, csrObject(name, conditions));
  await it.settle();
}

const written = (path = A): number =>
  it.api.writes.filter((each) => each.path.startsWith(path)).length;
const certificate = (path = A): string | undefined =>
  (it.api.get(path)?.status as { certificate?: string } | undefined)?.certificate;
const condition = (type: string, path = A): Condition | undefined =>
  it.conditionsOf(path).find((each) => each.type === type);
const signs = (): number => it.author.signs.length;

test('1. a request for another signer is neither read further nor written; no Event', async () => {
  const object = csrObject('foreign');
  const spec = { ...(object.spec as object), signerName: 'example.com/other' };
  it.api.put(`${CSR}/foreign`, { ...object, spec });
  await it.settle();
  assert.equal(it.author.signs.length, 0);
  assert.equal(written(`${CSR}/foreign`), 0);
  assert.deepEqual(it.component.notes, []);
});

test('2. writes nothing before approval or denial; a condition change reconciles', async () => {
  await create('a', []);
  assert.equal(written(), 0);
  assert.equal(it.author.signs.length, 0);
  it.api.put(A, csrObject('a', [APPROVED]));
  await it.settle();
  assert.equal(it.author.signs.length, 1);
  assert.ok(certificate());
});

test('3. Denied: never signed', async () => {
  await create('a', [APPROVED, { type: 'Denied', status: 'True', reason: 'No' }]);
  assert.equal(it.author.signs.length, 0);
  assert.equal(written(), 0);
});

for (const [what, status] of [
  ['has its certificate', { conditions: [APPROVED], certificate: 'LS0t' }],
  ['is Failed', { conditions: [APPROVED, { type: 'Failed', status: 'True' }] }],
  ['is Denied', { conditions: [{ type: 'Denied', status: 'True' }] }],
] as const) {
  test(`4. a request that ${what} is left as it is`, async () => {
    it.api.put(A, { ...csrObject('a'), status });
    const before = JSON.stringify(it.api.get(A));
    await it.settle();
    it.api.put(ISSUER, issuerObject({}, { annotations: { wake: '1' } }));
    await it.settle();
    assert.equal(JSON.stringify(it.api.get(A)), before);
    assert.equal(it.author.signs.length, 0);
  });
}

test('5. a CertificateSigningRequest has no Ready: writes nothing before Sign', async () => {
  it.author.sign = (request, issuer, ctx) => {
    assert.equal(written(), 0);
    return ok(request, issuer, ctx);
  };
  await create();
  assert.equal(signs(), 1);
  assert.equal(condition('Ready'), undefined);
});

test('6. a missing issuer gets no Sign call; once ready, all waiting requests are', async () => {
  it.api.remove(ISSUER);
  await it.settle();
  await create('a');
  await create('b');
  assert.equal(it.author.signs.length, 0);
  it.api.put(ISSUER, issuerObject());
  await it.settle();
  assert.equal(it.author.signs.length, 2);
});

test('6. no Sign call while the issuer is unready; once ready, all waiting reconcile', async () => {
  it.author.check = () => Promise.reject(new Error('CA is away'));
  it.api.put(ISSUER, issuerObject({ authority: { url: 'https://other.example.com' } }));
  await it.settle();
  assert.equal(it.ready()?.status, 'False');
  await create('a');
  await create('b');
  await it.time.advance(120_000);
  assert.equal(it.author.signs.length, 0);
  assert.equal(written() + written(`${CSR}/b`), 0);
  it.author.check = () => Promise.resolve();
  await it.time.advance(30_000);
  assert.equal(it.ready()?.status, 'True');
  assert.equal(it.author.signs.length, 2);
});

test('6. Ready of an older generation: no Sign call before the new one is checked', async () => {
  const checking = Promise.withResolvers<undefined>();
  it.author.check = () => checking.promise;
  it.api.put(ISSUER, {
    ...issuerObject({ authority: { url: 'https://other.example.com' } }),
    status: it.api.get(ISSUER)?.status,
  });
  await create();
  assert.equal(it.author.signs.length, 0);
  checking.resolve(undefined);
  await it.settle();
  assert.equal(it.author.signs.length, 1);
});

test('7. Sign succeeds: the certificate is written in one update', async () => {
  await create();
  assert.equal(written(), 1);
  assert.match(Buffer.from(certificate() ?? '', 'base64').toString(), /^-----BEGIN CERTIFICATE/);
});

test('8. an ordinary error is retried with backoff, then the certificate is issued', async () => {
  it.author.sign = fail(new Error('CA is away'));
  await create();
  assert.equal(signs(), 1);
  await it.time.advance(20_000);
  const tried = signs();
  assert.ok(tried > 2 && tried < 20, `${tried} calls`);
  assert.equal(written(), 0);
  it.author.sign = ok;
  await it.time.advance(30_000);
  assert.ok(certificate());
});

test('8. a request older than maxRetryDuration is Failed with the last message', async () => {
  let count = 0;
  it.author.sign = () => Promise.reject(new Error(`attempt ${(count += 1)}`));
  await create();
  await it.time.advance(MAX_RETRY_MS - 1);
  assert.equal(condition('Failed'), undefined);
  await it.time.advance(1);
  assert.equal(condition('Failed')?.message, `attempt ${count}`);
  assert.equal(written(), 1);
  await it.time.advance(120_000);
  assert.equal(it.author.signs.length, count);
});

test('9. a PermanentError: Failed at once and no further Sign call', async () => {
  it.author.sign = fail(new PermanentError('that name is refused'));
  await create();
  assert.equal(condition('Failed')?.message, 'that name is refused');
  await it.time.advance(120_000);
  assert.equal(it.author.signs.length, 1);
});

test('9. retries a failed write of a PermanentError without another Sign call', async () => {
  it.author.sign = fail(new PermanentError('that name is refused'));
  it.api.refuse(500, 409);
  await create();
  await it.time.advance(60_000);
  assert.equal(condition('Failed')?.message, 'that name is refused');
  assert.equal(it.author.signs.length, 1);
});

test('9. after a PermanentError only a new request is signed', async () => {
  it.author.sign = fail(new PermanentError('that name is refused'));
  await create('a');
  it.author.sign = ok;
  await create('b');
  assert.ok(certificate(`${CSR}/b`));
  assert.equal(certificate(), undefined);
});

test('10. an IssuerError leaves the request waiting; the issuer’s Ready=False has it', async () => {
  it.author.sign = fail(new IssuerError('login expired'));
  it.author.check = () => Promise.reject(new Error('login expired'));
  await create();
  assert.equal(written(), 0);
  assert.deepEqual([it.ready()?.status, it.ready()?.message], ['False', 'login expired']);
  await it.time.advance(2 * MAX_RETRY_MS);
  assert.equal(it.author.signs.length, 1);
  assert.equal(written(), 0);
  it.author.sign = ok;
  it.author.check = () => Promise.resolve();
  await it.time.advance(60_000);
  assert.ok(certificate());
});

test('11. a SetConditionError around any other error stores its condition', async () => {
  const order = { type: 'Order', status: 'True', reason: 'Made', message: 'order 7' } as const;
  it.author.sign = fail(new SetConditionError(order, new PermanentError('refused')));
  await create('a');
  assert.equal(condition('Order')?.message, 'order 7');
  assert.equal(condition('Failed')?.message, 'refused');
  assert.equal(written(), 1);
  it.author.sign = fail(new SetConditionError(order, new PendingError('at work')));
  await create('b');
  assert.equal(condition('Order', `${CSR}/b`)?.reason, 'Made');
  assert.equal(condition('Failed', `${CSR}/b`), undefined);
});

test('11. a stored condition is visible in the next Sign call', async () => {
  it.author.sign = (request, issuer, ctx) => {
    const { conditions } = request;
    const order = conditions.find(({ type }) => type === 'Order');
    const state = order === undefined ? '1' : String(Number(order.message) + 1);
    if (state === '4') return ok(request, issuer, ctx);
    const next = { type: 'Order', status: 'True', reason: 'Made', message: state } as const;
    return Promise.reject(new SetConditionError(next, new PendingError('at work')));
  };
  await create();
  await it.time.advance(3_000);
  assert.equal(condition('Order')?.message, '3');
  assert.equal(it.author.signs.length, 4);
  assert.ok(certificate());
});

for (const type of ['Ready', 'Approved', 'Denied', 'Failed']) {
  test(`11. a condition type that belongs to others is not set: ${type}`, async () => {
    const order = { type, status: 'True', reason: 'Mine', message: '' } as const;
    it.author.sign = fail(new SetConditionError(order, new PendingError('at work')));
    await create();
    assert.deepEqual(it.conditionsOf(A), [APPROVED]);
  });
}

test('12. PendingError: calls Sign again after its delay, exempt from maxRetryDuration', async () => {
  it.author.sign = fail(new PendingError('at work'));
  await create();
  await it.time.advance(999);
  assert.equal(it.author.signs.length, 1);
  await it.time.advance(1);
  assert.equal(it.author.signs.length, 2);
  it.author.sign = fail(new PendingError('at work', { afterMs: 20_000 }));
  await it.time.advance(1_000);
  await it.time.advance(19_999);
  assert.equal(it.author.signs.length, 3);
  await it.time.advance(2 * MAX_RETRY_MS);
  assert.equal(condition('Failed'), undefined);
  assert.equal(it.author.signs.length, 3 + 6);
  it.author.sign = ok;
  await it.time.advance(20_000);
  assert.ok(certificate());
});
