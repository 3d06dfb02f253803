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
  type Thing,
} from '../../support/kube/reflector-fixture.ts';

let stage: Stage;
beforeEach(async () => (stage = await startStage()));
afterEach(() => stage.stop());

test('the reflector streams the list with a server-side filter and requests bookmarks', async () => {
  const run = stage.start({ fieldSelector: 'spec.signerName=example.com/a', labelSelector: 'x=y' });
  const { method, path, query } = await stage.server.next();
  assert.deepEqual([method, path], ['GET', '/things']);
  assert.deepEqual(Object.fromEntries(query), {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '290',
    fieldSelector: 'spec.signerName=example.com/a',
    labelSelector: 'x=y',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  });
  assert.equal(run.reflector.synced, false);
});

test('the first object is reported before the list is complete', async () => {
  const run = stage.start();
  const call = await stage.server.next();
  call.lines(added(thing('a', 1)));
  await until('it is told', PATIENCE_MS, () => run.told.includes('+a'));
  assert.equal(run.reflector.synced, false);
  call.lines(bookmark(10, true));
  await synced(run);
  assert.deepEqual(run.reflector.get('a'), thing('a', 1));
  assert.equal(run.reflector.list().length, 1);
});

test('a watch that the server ends resumes from its last bookmark', async () => {
  const { run, call } = await stage.established([thing('a', 1)]);
  call.lines(bookmark(42));
  call.end();
  const next = await stage.server.next('the second watch');
  assert.equal(next.query.get('resourceVersion'), '42');
  assert.equal(next.query.get('sendInitialEvents'), null);
  assert.deepEqual(run.restarts, ['/things ended']);
  assert.equal(run.reflector.failure, undefined);
});

test('without streaming lists the reflector lists page by page, then watches', async () => {
  const run = stage.start({ fieldSelector: 'spec.x=y' });
  (await stage.server.next()).answer(422, {
    reason: 'Invalid',
    message: 'sendInitialEvents is forbidden',
  });
  await stage.backoff(800);
  const first = await stage.server.next('the first page');
  assert.deepEqual(Object.fromEntries(first.query), { limit: '500', fieldSelector: 'spec.x=y' });
  const page = { apiVersion: 'example.com/v1', kind: 'ThingList' };
  first.answer(200, {
    ...page,
    metadata: { resourceVersion: '9', continue: 'c1' },
    items: [thing('a', 1)],
  });
  const second = await stage.server.next('the second page');
  assert.equal(second.query.get('continue'), 'c1');
  second.answer(200, {
    ...page,
    metadata: { resourceVersion: '9', continue: '' },
    items: [thing('b', 2)],
  });
  const watch = await stage.server.next('the watch');
  assert.equal(watch.query.get('resourceVersion'), '9');
  assert.deepEqual(run.reflector.get('a'), {
    ...thing('a', 1),
    apiVersion: 'example.com/v1',
    kind: 'Thing',
  });
  await synced(run);
  watch.answer(410, EXPIRED);
  await stage.backoff(800);
  const again = await stage.server.next('a list again');
  assert.equal(again.query.get('limit'), '500', 'it stays with pages');
});

test('a list whose continue token expires starts again', async () => {
  const run = stage.start();
  (await stage.server.next()).answer(400, { reason: 'BadRequest' });
  await stage.backoff(800);
  const metadata = { resourceVersion: '9', continue: 'c1' };
  (await stage.server.next()).answer(200, { kind: 'ThingList', metadata, items: [thing('a', 1)] });
  (await stage.server.next()).answer(410, EXPIRED);
  await stage.backoff(800);
  const again = await stage.server.next();
  assert.equal(again.query.get('continue'), null);
  again.answer(200, { kind: 'ThingList', metadata: { resourceVersion: '12' }, items: null });
  await synced(run);
  assert.deepEqual(run.told, ['+a', '-a']);
});

test('an object deleted and recreated between two watches gives two events', async () => {
  const { run, call } = await stage.established([thing('a', 1)]);
  call.lines(
    { type: 'DELETED', object: thing('a', 11) },
    added(thing('a', 12, { uid: 'a-2' })),
    added(thing('b', 13)),
  );
  await until('all is told', PATIENCE_MS, () => run.told.length === 4);
  assert.deepEqual(run.told, ['+a', '-a', '+a', '+b']);
  assert.equal(run.reflector.get('a')?.metadata.uid, 'a-2');
});

test('an object that the filter drops is not kept', async () => {
  const keep = ({ done }: Thing): boolean => done !== true;
  const { run } = await stage.established([thing('a', 1), thing('b', 2, { done: true })], { keep });
  assert.deepEqual(run.told, ['+a']);
  run.reflector.applyWrite(thing('a', 15, { done: true }));
  assert.deepEqual(run.told, ['+a', '-a']);
  assert.deepEqual(run.reflector.list(), []);
});

test('a handler that throws is logged, and no event is lost', async () => {
  const seen: string[] = [];
  const onEvent = (key: string): void => {
    seen.push(key);
    throw new Error('listener is broken');
  };
  const { run } = await stage.established([thing('a', 1), thing('b', 2)], { onEvent });
  assert.deepEqual(seen, ['a', 'b']);
  assert.match(String(run.log.lines[0]?.fields['error']), /listener is broken/);
  assert.deepEqual(run.restarts, []);
});

for (const reader of ['keep', 'transform'] as const) {
  test(`an object on which ${reader} throws is logged and left out, and no other is lost`, async () => {
    const unreadable = (object: Thing): never => {
      throw new TypeError(`${object.metadata.name} has no spec`);
    };
    const read = (object: Thing): Thing =>
      object.metadata.name === 'b' ? unreadable(object) : object;
    const { run, call } = await stage.established([thing('a', 1), thing('b', 2), thing('c', 3)], {
      [reader]: read,
    });
    call.lines(added(thing('b', 11)), added(thing('d', 12)));
    await until('d is told', PATIENCE_MS, () => run.told.includes('+d'));
    assert.deepEqual(run.told, ['+a', '+c', '+d']);
    const errors = run.log.lines.map(({ fields }) => String(fields['error']));
    assert.deepEqual(errors, ['b has no spec', 'b has no spec']);
    assert.deepEqual(run.restarts, []);
  });
}

test('a stopped reflector ends at once in a watch, a backoff, or before its first list', async () => {
  const { run, call } = await stage.established([]);
  run.stop();
  await run.ended;
  await until('we left', PATIENCE_MS, call.isGone);

  const failing = stage.start();
  (await stage.server.next()).answer(503, '');
  await until('it waits', PATIENCE_MS, () => stage.time.waits().includes(800));
  failing.stop();
  await failing.ended;

  const waiting = stage.start();
  const sync = waiting.reflector.whenSynced(AbortSignal.abort(new Error('no time')));
  await assert.rejects(sync, /no time/);
  waiting.stop();
  await waiting.ended;
  assert.deepEqual(stage.time.waits(), [], 'no timer is left behind');
});

test('a reflector that is stopped between two received events reports nothing more', async () => {
  const told: string[] = [];
  const { run, call } = await stage.established([], {
    onEvent: (key) => {
      told.push(key);
      run.stop();
    },
  });
  const both = [thing('a', 11), thing('b', 12)].map((each) => `${JSON.stringify(added(each))}\n`);
  call.write(both.join(''));
  await run.ended;
  assert.deepEqual(told, ['a']);
});
