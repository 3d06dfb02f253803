// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '../../cluster/until.ts';
import {
  EXPIRED,
  PATIENCE_MS,
  added,
  bookmark,
  startStage,
  synced,
  thing,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';
import type { Call } from '../../support/kube/scripted-server.ts';

let stage: Stage;
beforeEach(async () => (stage = await startStage()));
afterEach(() => stage.stop());

test('an event whose line was truncated is received again and reported once', async () => {
  const { run, call } = await stage.established([]);
  call.lines(added(thing('a', 11)));
  await until('a is told', PATIENCE_MS, () => run.told.length === 1);
  call.write(JSON.stringify(added(thing('b', 12))).slice(0, 40));
  await new Promise((resolve) => setTimeout(resolve, 20));
  call.cut();
  await stage.backoff(800);
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '11');
  next.lines(added(thing('b', 12)));
  await until('b is told', PATIENCE_MS, () => run.told.length === 2);
  assert.deepEqual(run.told, ['+a', '+b']);
  assert.equal(run.reflector.synced, true);
});

test('a line that is not JSON closes the watch, and no later event is lost', async () => {
  const { run, call } = await stage.established([]);
  call.write('{"type":"ADDED","object":\n');
  await stage.backoff(800);
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '10');
  assert.deepEqual(run.restarts, ['/things malformed']);
});

test('a line that the server truncates is received again', async () => {
  const { run, call } = await stage.established([]);
  call.write(JSON.stringify(added(thing('b', 12))).slice(0, 40));
  call.end();
  await stage.backoff(800);
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '10');
  assert.deepEqual(run.restarts, ['/things truncated']);
});

test('a watch that goes back in time is discarded, and a new list repairs the cache', async () => {
  const { run, call } = await stage.established([]);
  call.lines(added(thing('a', 12)), added(thing('b', 11)));
  await stage.backoff(800);
  const list = await stage.server.next('the new list');
  assert.equal(list.query.get('sendInitialEvents'), 'true');
  assert.deepEqual(run.told, ['+a']);
  list.lines(added(thing('a', 12)), added(thing('b', 11)), bookmark(13, true));
  await until('the list is in', PATIENCE_MS, () => run.reflector.get('b') !== undefined);
  assert.deepEqual(run.told, ['+a', '+b']);
  assert.deepEqual(run.restarts, ['/things disordered']);
});

for (const way of ['as an answer', 'in the stream'] as const) {
  test(`410 ${way}: the reflector lists again and drops what is no longer listed`, async () => {
    const { run, call } = await stage.established([thing('a', 1), thing('b', 2)]);
    if (way === 'in the stream') call.lines({ type: 'ERROR', object: EXPIRED });
    else {
      call.end();
      (await stage.server.next('the refused watch')).answer(410, EXPIRED);
    }
    await stage.backoff(800);
    const list = await stage.server.next('the new list');
    assert.equal(list.query.get('sendInitialEvents'), 'true');
    assert.equal(list.query.get('resourceVersion'), null);
    list.lines(added(thing('b', 2)), added(thing('c', 30, { uid: 'c-2' })), bookmark(31, true));
    await until('the list is in', PATIENCE_MS, () => run.reflector.get('a') === undefined);
    assert.deepEqual(run.told, ['+a', '+b', '+c', '-a']);
    assert.equal(run.restarts.at(-1), '/things 410');
  });
}

test('an interrupted list starts again, and no object counts as deleted', async () => {
  const run = stage.start();
  const call = await stage.server.next();
  call.lines(added(thing('a', 1)), added(thing('b', 2)));
  await until('both are told', PATIENCE_MS, () => run.told.length === 2);
  call.cut();
  await stage.backoff(800);
  const again = await stage.server.next('the second list');
  assert.equal(again.query.get('sendInitialEvents'), 'true');
  assert.equal(run.reflector.list().length, 2);
  again.lines(added(thing('b', 2)), bookmark(10, true));
  await synced(run);
  assert.deepEqual(run.told, ['+a', '+b', '-a']);
});

test('a 429 pauses the watch for its Retry-After', async () => {
  const { call } = await stage.established([]);
  call.end();
  (await stage.server.next()).answer(429, { reason: 'TooManyRequests' }, { 'retry-after': '17' });
  await stage.backoff(17_000);
  await stage.server.next('the watch after that');
});

test('5xx responses back off, doubling up to 30 s, until an event resets it', async () => {
  const { run, call } = await stage.established([]);
  call.end();
  for (const wait of [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]) {
    (await stage.server.next()).answer(503, 'no endpoints');
    await stage.backoff(wait);
  }
  assert.match(run.reflector.failure ?? '', /503: no endpoints/);
  const good = await stage.server.next();
  good.lines(bookmark(50));
  await until('it is well', PATIENCE_MS, () => run.reflector.failure === undefined);
  good.cut();
  await stage.backoff(800);
});

test('a proxy that cuts each quiet watch after a minute lengthens no backoff', async () => {
  const { run, call } = await stage.established([]);
  call.end();
  for (let cuts = 0; cuts < 3; cuts += 1) {
    const quiet = await stage.server.next();
    quiet.lines();
    await until('it is well', PATIENCE_MS, () => run.reflector.failure === undefined);
    await stage.time.advance(60_000);
    quiet.cut();
    await stage.backoff(800);
  }
});

test('a watch that keeps ending at once does not cause a tight loop', async () => {
  const { run, call } = await stage.established([]);
  call.end();
  for (const wait of [800, 1_600, 3_200]) {
    (await stage.server.next()).lines();
    stage.server.calls.at(-1)?.end();
    await stage.backoff(wait);
  }
  assert.match(run.reflector.failure ?? '', /closed at once/);
});

test('90 s without a complete line close the connection, even if bytes trickle in', async () => {
  const { run, call } = await stage.established([]);
  await stage.time.advance(60_000);
  call.lines(bookmark(20));
  await until('it is heard', PATIENCE_MS, () => run.heard.at(-1) === stage.time.clock() / 1_000);
  await stage.time.advance(60_000);
  assert.equal(call.isGone(), false, 'a bookmark is a sign of life');
  call.write('{"type":"ADD');
  await stage.time.advance(30_000);
  await until('we left', PATIENCE_MS, call.isGone);
  await stage.backoff(800);
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '20');
  assert.deepEqual(run.restarts, ['/things silent']);
  assert.match(String(run.log.lines.at(-1)?.fields['error']), /no event for 90 s/);
});

test('a server that sends no headers is given up after 90 s', async () => {
  const { run, call } = await stage.established([]);
  call.end();
  const silent = await stage.server.next();
  await stage.time.advance(91_000);
  await until('we left', PATIENCE_MS, silent.isGone);
  await until('it is counted', PATIENCE_MS, () => run.restarts.includes('/things silent'));
});

test('a watch that was answered but got no bookmark begins with a new list', async () => {
  const { run, call } = await stage.established([thing('a', 5)]);
  call.end();
  const mute = await stage.server.next('the watch from a version that is ahead');
  assert.equal(mute.query.get('resourceVersion'), '10');
  mute.lines();
  await stage.time.advance(95_000);
  await until('we left', PATIENCE_MS, mute.isGone);
  const listing = await stage.server.next('the list');
  assert.equal(listing.query.get('sendInitialEvents'), 'true');
  assert.equal(listing.query.get('resourceVersion'), null);
  // What the older state does not have is gone, however low its version is.
  listing.lines(bookmark(3, true));
  await until('it is told', PATIENCE_MS, () => run.told.includes('-a'));
});

test('every kind of failure has its own reason in the restart metric', async () => {
  const { run, call } = await stage.established([]);
  const troubles: readonly (readonly [string, (next: Call) => void])[] = [
    ['ended', (next) => next.end()],
    ['429', (next) => next.answer(429, {})],
    ['503', (next) => next.answer(503, {})],
    ['401', (next) => next.answer(401, {})],
    ['unreachable', (next) => next.cut()],
  ];
  call.end();
  for (const [reason, cause] of troubles.slice(1)) {
    cause(await stage.server.next(reason));
    // After a 401 the call is repeated once with credentials read again.
    if (reason === '401') cause(await stage.server.next(reason));
    await until(reason, PATIENCE_MS, () => run.restarts.includes(`/things ${reason}`));
    await stage.time.advance(1_000);
  }
  assert.deepEqual(
    run.restarts,
    troubles.map(([reason]) => `/things ${reason}`),
  );
});

test('a stopped watch removes its metric series, so that it does not look silent', async () => {
  const { run } = await stage.established([thing('a', 1)], { fieldSelector: 'metadata.name=a' });
  run.stop();
  run.reflector.clear();
  assert.deepEqual(run.over, ['/things metadata.name=a']);
});

test('a watch without events is healthy as soon as the server accepts it', async () => {
  const { run, call } = await stage.established([]);
  call.cut();
  await until('it failed', PATIENCE_MS, () => run.reflector.failure !== undefined);
  await stage.backoff(800);
  (await stage.server.next()).lines();
  await until('it is well', PATIENCE_MS, () => run.reflector.failure === undefined);
});

test('after an outage every object is reported again, so that failed work is retried', async () => {
  const { run, call } = await stage.established([thing('a', 1), thing('b', 2)]);
  call.end();
  for (const wait of [800, 1_600]) {
    (await stage.server.next()).answer(503, 'no endpoints');
    await stage.backoff(wait);
  }
  (await stage.server.next()).lines(added(thing('c', 11)));
  await until('c is told', PATIENCE_MS, () => run.told.includes('+c'));
  assert.deepEqual(run.told, ['+a', '+b', '+a', '+b', '+c']);
});

test('after an outage that needs a new list, objects are reported again after it', async () => {
  const { run, call } = await stage.established([thing('a', 1), thing('b', 2)]);
  call.end();
  (await stage.server.next()).answer(500, 'etcd is away');
  await stage.backoff(800);
  (await stage.server.next()).answer(410, EXPIRED);
  await stage.backoff(800);
  const list = await stage.server.next('the new list');
  list.lines(added(thing('b', 2)), bookmark(31, true));
  await until('b is told again', PATIENCE_MS, () => run.told.length === 4);
  assert.deepEqual(run.told, ['+a', '+b', '-a', '+b']);
});

test('an unreachable server is retried every five seconds', async () => {
  const { call } = await stage.established([]);
  call.end();
  for (const wait of [800, 1_600, 3_200, 5_000, 5_000]) {
    (await stage.server.next()).cut();
    await stage.backoff(wait);
  }
});

test('a list after an outage starts without the long backoff of the outage', async () => {
  const { run, call } = await stage.established([]);
  call.end();
  for (const wait of [800, 1_600, 3_200, 5_000]) {
    (await stage.server.next()).cut();
    await stage.backoff(wait);
  }
  (await stage.server.next()).answer(410, EXPIRED);
  await stage.backoff(800);
  (await stage.server.next('the new list')).lines(bookmark(31, true));
  await until('it is well', PATIENCE_MS, () => run.reflector.failure === undefined);
});
