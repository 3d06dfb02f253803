// SPDX-License-Identifier: Apache-2.0
/**
 * etcd was restored from a backup: the version from which a watch would resume is of a time that
 * has not been.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '../../cluster/until.ts';
import {
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

test('after an outage one object’s version is compared, and the watch resumes', async () => {
  const { run, call } = await stage.established([thing('a', 1)], {
    fieldSelector: 'spec.x=y',
    labelSelector: 'l=m',
  });
  stage.hasVersion('10');
  call.cut();
  await stage.backoff(800);
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '10');
  const [comparison, ...others] = stage.comparisons;
  assert.deepEqual(others, []);
  assert.deepEqual(Object.fromEntries(comparison?.query ?? []), {
    limit: '1',
    fieldSelector: 'spec.x=y',
    labelSelector: 'l=m',
  });
  assert.match(comparison?.headers.accept ?? '', /as=PartialObjectMetadataList/);
  next.lines(bookmark(20));
  await until('it is heard', PATIENCE_MS, () => run.reflector.failure === undefined);
  await stage.time.advance(2_000);
  next.end();
  await stage.server.next('a watch that follows one that ended as it should');
  assert.equal(stage.comparisons.length, 1);
  assert.deepEqual(run.told, ['+a']);
});

test('a server behind the known version is listed again, and what it lacks is gone', async () => {
  const { run, call } = await stage.established([thing('a', 5), thing('b', 9)]);
  run.reflector.applyWrite(thing('c', 11));
  stage.hasVersion('7');
  call.cut();
  await stage.backoff(800);
  const list = await stage.server.next('the new list');
  assert.equal(list.query.get('sendInitialEvents'), 'true');
  assert.equal(list.query.get('resourceVersion'), null);
  list.lines(added(thing('a', 5)), bookmark(7, true));
  await until('b is gone', PATIENCE_MS, () => run.told.includes('-b'));
  assert.deepEqual(
    run.reflector.list().map(({ metadata }) => metadata.name),
    ['a'],
    'a write of our own is lost as well',
  );
  assert.deepEqual(run.restarts, ['/things broken', '/things restored']);
});

test('versions are compared as numbers', async () => {
  const { call } = await stage.established([]);
  stage.hasVersion('9');
  call.cut();
  await stage.backoff(800);
  const list = await stage.server.next('the new list');
  assert.equal(list.query.get('resourceVersion'), null);
});

test('during an outage the comparison is made instead of the watch, not beside it', async () => {
  const { run, call } = await stage.established([]);
  stage.hasVersion(undefined);
  call.cut();
  for (const wait of [800, 800, 1_600, 3_200]) await stage.backoff(wait);
  await until('the fourth', PATIENCE_MS, () => stage.comparisons.length === 4);
  assert.equal(stage.server.calls.length, 1);
  stage.hasVersion('10');
  await stage.backoff(6_400);
  (await stage.server.next('the watch')).lines();
  await until('it is well', PATIENCE_MS, () => run.reflector.failure === undefined);
  assert.equal(stage.comparisons.length, 5);
});

const FAULTS: readonly (readonly [string, number, (call: Call) => void])[] = [
  ['a refused watch', 1, (call) => call.answer(503, 'no endpoints')],
  [
    'a watch that ends in an error',
    1,
    (call) => call.lines({ type: 'ERROR', object: { code: 500 } }),
  ],
  [
    'half an event',
    1,
    (call) => {
      call.lines();
      call.write('{"type":"ADD');
      call.end();
    },
  ],
  ['too many requests', 0, (call) => call.answer(429, {})],
  [
    'a watch that something in between cuts at once',
    0,
    (call) => {
      call.lines();
      call.end();
    },
  ],
];

for (const [what, times, happens] of FAULTS) {
  test(`${what}: ${times} comparison`, async () => {
    const { call } = await stage.established([]);
    call.end();
    happens(await stage.server.next('the watch that fails'));
    await stage.backoff(800);
    const next = await stage.server.next('the watch after it');
    assert.equal(next.query.get('resourceVersion'), '10');
    assert.equal(stage.comparisons.length, times);
  });
}

test('an interrupted list needs no comparison', async () => {
  const run = stage.start();
  (await stage.server.next()).cut();
  await stage.backoff(800);
  (await stage.server.next('the list')).lines(bookmark(10, true));
  await synced(run);
  await stage.time.advance(2_000);
  stage.server.calls.at(-1)?.end();
  await stage.server.next('the watch');
  assert.equal(stage.comparisons.length, 0);
});
