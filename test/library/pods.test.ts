// SPDX-License-Identifier: Apache-2.0
/** The same kinds of errors where the API forbids conditions, and Failed is indefinitely. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { IssuerError, PendingError, PermanentError, SetConditionError } from '#library/index.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import {
  ISSUER,
  POD,
  issuerObject,
  ok,
  podObject,
  startReady,
  startWorld,
  type World,
} from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

async function create(): Promise<void> {
  it.api.put(POD, podObject());
  await it.settle();
}
const written = (): number => it.api.writes.filter(({ path }) => path.startsWith(POD)).length;
const types = (): readonly string[] => it.conditionsOf(POD).map(({ type }) => type);
const reasons = (): readonly string[] => it.component.notes.map(({ reason }) => reason);

test('Sign succeeds: the chain is issued with the leaf’s times, in one write', async () => {
  await create();
  assert.deepEqual(types(), ['Issued']);
  assert.equal(written(), 1);
});

test('retries an ordinary error without limit, with an Event, and never fails', async () => {
  it.author.sign = () => Promise.reject(new Error('CA is away'));
  await create();
  await it.time.advance(120_000);
  assert.equal(written(), 0);
  assert.ok(reasons().includes('SignFailed'));
  it.author.sign = ok;
  await it.time.advance(200_000);
  assert.deepEqual(types(), ['Issued']);
});

test('a PermanentError gives an Event and no more Sign calls; a new request is tried', async () => {
  it.author.sign = () => Promise.reject(new PermanentError('that name is refused'));
  await create();
  it.api.put(ISSUER, { ...issuerObject({ authority: { url: 'https://b.example.com' } }) });
  await it.settle();
  await it.time.advance(120_000);
  assert.equal(written(), 0);
  assert.equal(it.author.signs.length, 1);
  assert.ok(reasons().includes('PermanentError'));
  it.api.remove(POD);
  await it.settle();
  it.author.sign = ok;
  const pod = podObject();
  it.api.put(POD, { ...pod, metadata: { ...pod.metadata, uid: 'again' } });
  await it.settle();
  assert.deepEqual(types(), ['Issued']);
});

test('an IssuerError sets the issuer’s Ready=False, and the request waits', async () => {
  it.author.sign = () => Promise.reject(new IssuerError('login expired'));
  it.author.check = () => Promise.reject(new Error('login expired'));
  await create();
  await it.time.advance(120_000);
  assert.equal(it.ready()?.status, 'False');
  assert.equal(it.author.signs.length, 1);
  assert.equal(written(), 0);
});

test('a PendingError calls Sign again after the given delay', async () => {
  it.author.sign = () => Promise.reject(new PendingError('at work', { afterMs: 5_000 }));
  await create();
  await it.time.advance(5_000);
  assert.equal(it.author.signs.length, 2);
  assert.equal(written(), 0);
});

test('a SetConditionError gives an Event and is in the next Sign call, never written', async () => {
  const order = { type: 'Order', status: 'True', reason: 'Made', message: 'order 7' } as const;
  it.author.sign = () => Promise.reject(new SetConditionError(order, new PendingError('at work')));
  await create();
  await it.time.advance(1_000);
  assert.deepEqual(it.author.signs[0]?.conditions, []);
  assert.deepEqual(it.author.signs[1]?.conditions, [order]);
  assert.equal(written(), 0);
  const note = it.component.notes.find(({ reason }) => reason === 'Made');
  assert.deepEqual([note?.type, note?.note, note?.regarding.kind], ['Normal', 'order 7', 'Pod']);
});

test('Sign receives the pod, the key and the required fields of the leaf', async () => {
  await create();
  const [request] = it.author.signs;
  assert.ok(request);
  assert.deepEqual(
    [request.kind, request.pod?.name, request.pod?.serviceAccountName],
    ['PodCertificateRequest', 'web-0', 'web'],
  );
  assert.deepEqual(request.template.uris, ['spiffe://cluster.local/ns/team-a/sa/web']);
  assert.match(request.csr ?? '', /^-----BEGIN CERTIFICATE REQUEST/);
  assert.ok(Object.isFrozen(request) && Object.isFrozen(request.template));
});

test('an issuer of one namespace issues to pods of that namespace alone', async () => {
  const kind = { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' };
  const world = await startWorld({ issuer: { ...kind, namespaced: true } });
  const spec = { pods: { allow: 'true', uris: ["'spiffe://team-b.example/db'"] } };
  const own = issuerObject(spec, { namespace: 'team-b', name: 'db' });
  world.api.put('/apis/example.com/v1/namespaces/team-b/testissuers/db', own);
  await world.settle();
  const ofB = POD.replace('/namespaces/team-a/', '/namespaces/team-b/');
  assert.notEqual(ofB, POD);
  for (const [path, namespace] of [
    [POD, 'team-a'],
    [ofB, 'team-b'],
  ] as const) {
    const request = podRequest({ signerName: 'testissuers.example.com/team-b.db' });
    const metadata = { ...request.metadata, namespace, uid: namespace };
    world.api.put(path, { ...request, metadata });
  }
  await world.settle();
  await world.settle();
  const issued = (path: string): readonly string[] =>
    world.conditionsOf(path).map(({ type }) => type);
  assert.deepEqual([issued(POD), issued(ofB)], [[], ['Issued']]);
  assert.equal(world.author.signs.length, 1);
  await world.stop();
});
