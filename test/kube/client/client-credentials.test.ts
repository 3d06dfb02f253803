// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Credentials } from '#kube/client/connection.ts';
import { NOW, failure, startWire, type Wire } from '../../support/kube/server-and-clients.ts';

let wire: Wire;
beforeEach(async () => (wire = await startWire()));
afterEach(() => wire.stop());

test('a request with a 401 is sent once more with credentials read again', async () => {
  let token = 'old';
  const forgotten: Credentials[] = [];
  let cached: Credentials = { tls: {}, authorization: 'Bearer old' };
  const connection = wire.connection({
    credentials: () => Promise.resolve(cached),
    invalidate: (refused) => {
      forgotten.push(refused);
      cached = { tls: {}, authorization: `Bearer ${token}` };
    },
  });
  wire.server.always((call) => {
    const good = call.headers.authorization === 'Bearer new';
    call.answer(good ? 200 : 401, good ? { ok: true } : { reason: 'Unauthorized' });
  });
  const client = wire.connect({ connection });
  const first = cached;
  const error = await failure(client.request({ method: 'GET', path: '/' }));
  assert.equal(error.code, 'KUBE_UNAUTHORIZED');
  assert.equal(wire.server.calls.length, 2, 'once more, not indefinitely');
  assert.equal(forgotten[0], first);
  token = 'new';
  assert.deepEqual(await client.request({ method: 'GET', path: '/' }), { ok: true });
  assert.ok(await client.stream({ method: 'GET', path: '/' }));
});

test('a new token uses existing connections and does not disturb requests in flight', async () => {
  let current: Credentials = { tls: {}, authorization: 'Bearer 1' };
  const connection = wire.connection({
    credentials: () => Promise.resolve(current),
  });
  const changes: string[] = [];
  const client = wire.connect({ connection, onCredentials: (change) => changes.push(change) });
  const slow = client.request({ method: 'GET', path: '/slow' });
  const call = await wire.server.next();
  current = { tls: {}, authorization: 'Bearer 2' };
  const quick = client.request({ method: 'GET', path: '/quick' });
  const next = await wire.server.next();
  assert.equal(next.headers.authorization, 'Bearer 2');
  next.answer(200, {});
  await quick;
  call.answer(200, { late: true });
  assert.deepEqual(await slow, { late: true });
  assert.deepEqual(changes, ['token'], 'counted once');
});

test('a request whose credentials cannot be read fails with an error to retry', async () => {
  const connection = wire.connection({
    credentials: () => Promise.reject(new Error('no such file: token')),
  });
  const error = await failure(wire.connect({ connection }).request({ method: 'GET', path: '/' }));
  assert.deepEqual([error.status, error.disposition], [0, 'retry']);
  assert.match(error.message, /no such file: token/);
});

test('the clock offset follows the Date header of the latest response', async () => {
  const client = wire.connect();
  assert.equal(client.clockOffset(), 0);
  wire.server.always((call) => {
    call.answer(200, {}, { date: new Date(NOW - 120_000).toUTCString() });
  });
  await client.request({ method: 'GET', path: '/' });
  assert.ok(Math.abs(client.clockOffset() - 120_000) <= 1_000, 'a Date has whole seconds');
});

test('the clock offset changes without a response when the local clock is stepped', async () => {
  let [now, steady] = [NOW, 0];
  const client = wire.connect({ clock: () => now, monotonic: () => steady });
  wire.server.always((call) => {
    call.answer(200, {}, { date: new Date(NOW).toUTCString() });
  });
  await client.request({ method: 'GET', path: '/' });
  steady += 30_000;
  now += 30_000 + 360_000;
  assert.ok(Math.abs(client.clockOffset() - 360_000) <= 1_000, String(client.clockOffset()));
});

test('the Date header of a 5xx does not change the clock offset', async () => {
  const client = wire.connect();
  wire.server.always((call) => {
    call.answer(502, {}, { date: new Date(NOW - 120_000).toUTCString() });
  });
  await failure(client.request({ method: 'GET', path: '/' }));
  assert.equal(client.clockOffset(), 0);
});

test('an aggregated API server’s Date header does not change the clock offset', async () => {
  const client = wire.connect();
  wire.server.always((call) => {
    call.answer(200, {}, { date: new Date(NOW - 120_000).toUTCString() });
  });
  await client.request({ method: 'GET', path: '/', isAggregated: true });
  assert.equal(client.clockOffset(), 0);
});

test('a path prefix of the server URL is part of every request', async () => {
  const connection = wire.connection({ server: `${wire.server.url}/k8s/clusters/c-1` });
  const answered = wire.connect({ connection }).request({ method: 'GET', path: '/version' });
  const call = await wire.server.next();
  assert.equal(call.path, '/k8s/clusters/c-1/version');
  call.answer(200, {});
  await answered;
});
