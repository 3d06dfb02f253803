// SPDX-License-Identifier: Apache-2.0
/**
 * The behaviours of issuer-lib's README for cert-manager's CertificateRequests, where they have
 * more to show than CertificateSigningRequests: each test is named by its sentence.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { IssuerError, PendingError, PermanentError, SetConditionError } from '#library/index.ts';
import {
  APPROVED,
  DENIED,
  type CertificateRequestWanted,
} from '../support/requests/certificate-request.ts';
import {
  CERTIFICATE_REQUEST as A,
  SPEC,
  certificateRequestObject,
  put,
  startWithCertManager,
} from './cert-manager-world.ts';
import { ISSUER, MAX_RETRY_MS, fail, issuerObject, ok, type World } from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startWithCertManager();
});
afterEach(() => it.stop());

const create = (wanted?: CertificateRequestWanted): Promise<void> => put(it, wanted);

const written = (): readonly (readonly Condition[])[] =>
  it.api.writes
    .filter(({ path }) => path.startsWith(A))
    .map(({ object }) => (object.status as { conditions?: readonly Condition[] }).conditions ?? []);
const condition = (type: string): Condition | undefined =>
  it.conditionsOf(A).find((each) => each.type === type);
const status = (): { certificate?: string; ca?: string; failureTime?: string } =>
  it.api.get(A)?.status ?? {};
const signs = (): number => it.author.signs.length;

test('1. never touches a CertificateRequest of another issuer, kind or group', async () => {
  for (const other of [{ name: 'two' }, { kind: 'Issuer' }, { group: 'cert-manager.io' }]) {
    const object = certificateRequestObject();
    const spec = object.spec as { readonly issuerRef: object };
    it.api.put(A, { ...object, spec: { ...spec, issuerRef: { ...spec.issuerRef, ...other } } });
    await it.settle();
    assert.deepEqual([signs(), written().length], [0, 0]);
    it.api.remove(A);
  }
  assert.deepEqual(it.component.notes, []);
});

test('2. writes nothing before approval or denial; a condition change reconciles', async () => {
  await create({ conditions: [] });
  assert.deepEqual([signs(), written().length], [0, 0]);
  await create();
  assert.equal(condition('Ready')?.reason, 'Issued');
});

test('3. Denied: never signs; Ready=False, Denied, whatever the issuer’s state', async () => {
  it.author.check = () => Promise.reject(new Error('CA is away'));
  it.api.put(ISSUER, issuerObject({ ...SPEC, authority: { url: 'https://b.example.com' } }));
  await it.settle();
  assert.equal(it.ready()?.status, 'False');
  await create({ conditions: [APPROVED, DENIED] });
  assert.deepEqual([condition('Ready')?.status, condition('Ready')?.reason], ['False', 'Denied']);
  assert.equal(signs(), 0);
  assert.equal(written().length, 1);
});

for (const reason of ['Issued', 'Failed', 'Denied']) {
  test(`4. a CertificateRequest whose Ready is ${reason} is left as it is`, async () => {
    const ready: Condition = { type: 'Ready', status: 'False', reason };
    await create({ conditions: [APPROVED, ready] });
    it.api.put(ISSUER, issuerObject(SPEC, { annotations: { wake: '1' } }));
    await it.settle();
    assert.deepEqual([signs(), written().length], [0, 0]);
  });
}

test('5. the first visit to a live request sets Ready Unknown before any Sign call', async () => {
  const seen: (string | undefined)[] = [];
  it.author.sign = (request, issuer, ctx) => {
    seen.push(condition('Ready')?.reason);
    return ok(request, issuer, ctx);
  };
  await create();
  assert.deepEqual(seen, ['Initializing']);
  const readies = written().map((each) => each.find(({ type }) => type === 'Ready'));
  assert.deepEqual(
    readies.map((ready) => [ready?.status, ready?.reason]),
    [
      ['Unknown', 'Initializing'],
      ['True', 'Issued'],
    ],
  );
});

test('5. sets Ready once, also with an unready issuer, however often it reconciles', async () => {
  it.author.check = () => Promise.reject(new Error('CA is away'));
  it.api.put(ISSUER, issuerObject({ ...SPEC, authority: { url: 'https://b.example.com' } }));
  await it.settle();
  await create();
  await it.time.advance(120_000);
  assert.equal(condition('Ready')?.reason, 'Initializing');
  assert.equal(written().length, 1);
  it.author.check = () => Promise.resolve();
  await it.time.advance(30_000);
  assert.equal(condition('Ready')?.reason, 'Issued');
  assert.equal(written().length, 2);
});

test('7. Sign succeeds: certificate, ca and Ready=True in one update', async () => {
  await create();
  assert.deepEqual([condition('Ready')?.status, condition('Ready')?.reason], ['True', 'Issued']);
  for (const text of [status().certificate, status().ca]) {
    assert.match(Buffer.from(text ?? '', 'base64').toString(), /^-----BEGIN CERTIFICATE/);
  }
  assert.equal(written().length, 2, 'Initializing, and this');
});

test('7. Approved without a rule that allows everything: waits, with no Sign call', async () => {
  await create({ dnsNames: ['web.example.com'] });
  await it.settle();
  assert.equal(signs(), 0);
  assert.equal(condition('Ready')?.reason, 'Initializing');
  const [note] = it.component.notes.filter(({ reason }) => reason === 'NoRuleMatched');
  assert.match(note?.note ?? '', /services.*web\.example\.com/);
});

test('8. retries an ordinary error with backoff; Failed after maxRetryDuration', async () => {
  let count = 0;
  it.author.sign = () => Promise.reject(new Error(`attempt ${(count += 1)}`));
  await create();
  await it.time.advance(MAX_RETRY_MS - 1);
  assert.equal(condition('Ready')?.reason, 'Initializing');
  assert.ok(count > 2 && count < 40, `${count} calls`);
  await it.time.advance(1);
  assert.deepEqual(
    [condition('Ready')?.reason, condition('Ready')?.message],
    ['Failed', `RetriesExhausted: attempt ${count}`],
  );
  assert.ok(status().failureTime);
  await it.time.advance(120_000);
  assert.equal(signs(), count);
});

test('9. a PermanentError: Failed at once and no further Sign call', async () => {
  it.author.sign = fail(new PermanentError('that name is refused'));
  await create();
  assert.deepEqual(
    [condition('Ready')?.reason, condition('InvalidRequest')?.message],
    ['Failed', 'that name is refused'],
  );
  await it.time.advance(120_000);
  assert.equal(signs(), 1);
});

test('10. an IssuerError sets Ready=False on the issuer only, and the request waits', async () => {
  it.author.sign = fail(new IssuerError('login expired'));
  it.author.check = () => Promise.reject(new Error('login expired'));
  await create();
  await it.time.advance(2 * MAX_RETRY_MS);
  assert.deepEqual([it.ready()?.status, it.ready()?.message], ['False', 'login expired']);
  assert.equal(signs(), 1);
  assert.equal(condition('Ready')?.reason, 'Initializing');
  it.author.sign = ok;
  it.author.check = () => Promise.resolve();
  await it.time.advance(60_000);
  assert.equal(condition('Ready')?.reason, 'Issued');
});

test('11. SetConditionError is stored beside Ready and visible in the next Sign call', async () => {
  const order = (message: string): ConstructorParameters<typeof SetConditionError>[0] => ({
    type: 'Order',
    status: 'True',
    reason: 'Made',
    message,
  });
  it.author.sign = (request) => {
    const before = request.conditions.find(({ type }) => type === 'Order')?.message;
    const error =
      before === undefined ? new PendingError('at work') : new PermanentError('no after all');
    return Promise.reject(new SetConditionError(order(before === undefined ? '1' : '2'), error));
  };
  await create();
  assert.equal(condition('Order')?.message, '1');
  assert.equal(condition('Ready')?.reason, 'Initializing');
  await it.time.advance(1_000);
  assert.equal(signs(), 2);
  assert.equal(condition('Order')?.message, '2');
  assert.deepEqual(
    [condition('Ready')?.reason, condition('Ready')?.message],
    ['Failed', 'PermanentError: no after all'],
  );
  assert.equal(written().length, 3);
});

test('11. a condition type of cert-manager is not set: InvalidRequest', async () => {
  const mine = { type: 'InvalidRequest', status: 'True', reason: 'Mine', message: '' } as const;
  it.author.sign = fail(new SetConditionError(mine, new PendingError('at work')));
  await create();
  assert.equal(condition('InvalidRequest'), undefined);
  assert.equal(signs(), 1);
});

test('12. PendingError: calls Sign again after a second, exempt from maxRetryDuration', async () => {
  it.author.sign = fail(new PendingError('at work'));
  await create();
  await it.time.advance(999);
  assert.equal(signs(), 1);
  await it.time.advance(1);
  assert.equal(signs(), 2);
  await it.time.advance(2 * MAX_RETRY_MS);
  it.author.sign = ok;
  await it.time.advance(1_000);
  assert.equal(condition('Ready')?.reason, 'Issued');
});

test('18. a label change or its own Ready change reconciles no CertificateRequest', async () => {
  it.author.sign = fail(new PendingError('at work', { afterMs: 3_600_000 }));
  await create();
  const object = it.api.get(A);
  assert.ok(object);
  it.api.put(A, { ...object, metadata: { ...object.metadata, labels: { a: '1' } } });
  const conditions = it
    .conditionsOf(A)
    .map((each) => (each.type === 'Ready' ? { ...each, message: 'edited' } : each));
  it.api.put(A, { ...object, status: { conditions } });
  await it.time.advance(10_000);
  assert.equal(signs(), 1);
  it.api.put(A, { ...object, metadata: { ...object.metadata, annotations: { a: '1' } } });
  await it.settle();
  assert.equal(signs(), 2);
});
