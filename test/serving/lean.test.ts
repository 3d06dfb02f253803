// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { MAX_KEPT_CHARACTERS, MAX_KEPT_WHOLE, createLeaner } from '../../src/serving/lean.ts';
import { until } from '../cluster/until.ts';
import { PATIENCE_MS } from '../support/stage.ts';
import { request, startControlled, type Controlled, type Request } from './controlled.ts';

const bulky = (name: string, version: number): Request => {
  const plain = request(name, version);
  const annotations = { bulk: 'x'.repeat(MAX_KEPT_CHARACTERS) };
  return { ...plain, metadata: { ...plain.metadata, annotations } };
};

test('of a large request only who it is stays in memory', () => {
  const { lean, isLean } = createLeaner<Request>(() => ({ spec: { nodeName: 'n' } }));
  const small = request('small', 1);
  assert.equal(lean(small, 0), small);
  assert.equal(isLean(small), false);
  const left = lean(bulky('large', 2), 0);
  assert.equal(isLean(left), true);
  assert.ok(JSON.stringify(left).length < 300);
  assert.deepEqual([left.metadata.uid, left.metadata.resourceVersion], ['large-1', '2']);
  assert.deepEqual((left as { spec?: unknown }).spec, { nodeName: 'n' });
});

test('of very many requests only who they are stays in memory', () => {
  const { lean, isLean } = createLeaner<Request>(() => ({ spec: { nodeName: 'n' } }));
  assert.equal(isLean(lean(request('a', 1), MAX_KEPT_WHOLE - 1)), false);
  assert.equal(isLean(lean(request('b', 2), MAX_KEPT_WHOLE)), true);
});

let it: Controlled;
const seen: Request[] = [];
beforeEach(async () => {
  seen.length = 0;
  it = await startControlled();
  it.answer((each) => {
    seen.push(each);
    return { outcome: 'undecided', reason: 'Seen' };
  });
});
afterEach(() => it.stop());

test('what was not kept whole is read again when its turn comes', async () => {
  const large = bulky('large', 5);
  it.requests.lines({ type: 'ADDED', object: large });
  (await it.next('the read')).answer(200, { ...large, metadata: { ...large.metadata } });
  await until('it is looked at', PATIENCE_MS, () => seen.length === 1);
  assert.deepEqual(seen[0]?.metadata.annotations, large.metadata.annotations);
});

test('what cannot be read waits, and is read again', async () => {
  const large = bulky('large', 5);
  it.requests.lines({ type: 'ADDED', object: large });
  (await it.next('the read')).answer(503, 'no endpoints');
  const second = it.next('the second read');
  const { log } = it.component;
  await until('it waits', PATIENCE_MS, () =>
    log.lines.some(({ message }) => /could not/.test(message)),
  );
  await it.time.advance(1_000);
  (await second).answer(200, large);
  await until('it is looked at', PATIENCE_MS, () => seen.length === 1);
});

for (const [law, answer] of [
  ['has gone', [404, { reason: 'NotFound' }]],
  ['is another one of that name', [200, { ...request('large', 9, {}), kind: 'Thing' }]],
] as const) {
  test(`what ${law} by then is left alone`, async () => {
    const large = bulky('large', 5);
    const own = { ...large, metadata: { ...large.metadata, uid: 'large-0' } };
    it.requests.lines({ type: 'ADDED', object: own });
    const [status, body] = answer;
    (await it.next('the read')).answer(status, body);
    await until('it is told as gone', PATIENCE_MS, () => it.gone.length === 1);
    assert.deepEqual(seen, []);
  });
}
