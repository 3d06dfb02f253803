// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createCacheTransform } from '#requests/loop/cache-transform.ts';
import { until } from '../../cluster/until.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { request, startControlled, type Controlled, type Request } from './controlled.ts';

/** As in src/requests/loop/cache-transform.ts. */
const MAX_KEPT_CHARACTERS = 16 * 1024;
/** As in src/requests/loop/cache-transform.ts. */
const MAX_KEPT_TOGETHER = 12 * 1024 * 1024;

const bulky = (name: string, version: number): Request => {
  const plain = request(name, version);
  const annotations = { bulk: 'x'.repeat(MAX_KEPT_CHARACTERS) };
  return { ...plain, metadata: { ...plain.metadata, annotations } };
};

const stays = (): object => ({ spec: { nodeName: 'n' } });

test('only the identity of a large request stays in memory', () => {
  const { reduce: lean, isReduced: isLean } = createCacheTransform<Request>(stays);
  const small = request('small', 1);
  assert.equal(lean(small), small);
  assert.equal(isLean(small), false);
  const left = lean(bulky('large', 2));
  assert.equal(isLean(left), true);
  assert.ok(JSON.stringify(left).length < 300);
  assert.deepEqual([left.metadata.uid, left.metadata.resourceVersion], ['large-1', '2']);
  assert.deepEqual((left as { spec?: unknown }).spec, { nodeName: 'n' });
});

const half = (name: string): Request => {
  const plain = request(name, 1);
  const annotations = { bulk: 'x'.repeat(MAX_KEPT_CHARACTERS / 2) };
  return { ...plain, metadata: { ...plain.metadata, annotations } };
};

test('above the memory limit a request keeps only its identity until others go', () => {
  const { reduce: lean, isReduced: isLean, release: letGo } = createCacheTransform<Request>(stays);
  const most = MAX_KEPT_TOGETHER / (MAX_KEPT_CHARACTERS / 2);
  const kept = Array.from({ length: most }, (_, index) => lean(half(`web-${index}`)));
  const whole = kept.filter((each) => !isLean(each));
  assert.ok(whole.length < most && whole.length > most * 0.9);
  assert.equal(isLean(lean(half('one-more'))), true);
  const [first, second] = whole;
  assert.ok(first !== undefined && second !== undefined);
  for (const each of [first, first, kept.at(-1)]) if (each !== undefined) letGo(each);
  assert.equal(isLean(lean(half('in-its-place'))), false);
  assert.equal(isLean(lean(half('once'))), true);
});

test('ten thousand ordinary requests are all kept whole', () => {
  const { reduce: lean, isReduced: isLean } =
    createCacheTransform<ReturnType<typeof podRequest>>(stays);
  const ordinary = podRequest();
  for (let made = 0; made < 10_000; made++) assert.equal(isLean(lean({ ...ordinary })), false);
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

test('a reduced request is read in full before it is reconciled', async () => {
  const large = bulky('large', 5);
  it.requests.lines({ type: 'ADDED', object: large });
  (await it.next('the read')).answer(200, { ...large, metadata: { ...large.metadata } });
  await until('it is looked at', PATIENCE_MS, () => seen.length === 1);
  assert.deepEqual(seen[0]?.metadata.annotations, large.metadata.annotations);
});

test('a reduced request that cannot be read is retried', async () => {
  const large = bulky('large', 5);
  it.requests.lines({ type: 'ADDED', object: large });
  (await it.next('the read')).answer(503, 'no endpoints');
  const second = it.next('the second read');
  const { log } = it.component;
  await until('it waits', PATIENCE_MS, () =>
    log.lines.some(({ message }) => /cannot be read/.test(message)),
  );
  await it.time.advance(1_000);
  (await second).answer(200, large);
  await until('it is looked at', PATIENCE_MS, () => seen.length === 1);
});

for (const [law, answer] of [
  ['has gone', [404, { reason: 'NotFound' }]],
  ['is another one of that name', [200, { ...request('large', 9, {}), kind: 'Thing' }]],
] as const) {
  test(`a reduced request that ${law} in the meantime is dropped`, async () => {
    const large = bulky('large', 5);
    const own = { ...large, metadata: { ...large.metadata, uid: 'large-0' } };
    it.requests.lines({ type: 'ADDED', object: own });
    const [status, body] = answer;
    (await it.next('the read')).answer(status, body);
    await until('it is told as gone', PATIENCE_MS, () => it.gone.length === 1);
    assert.deepEqual(seen, []);
  });
}
