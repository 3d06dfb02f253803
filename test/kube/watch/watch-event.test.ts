// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { readWatchEvent } from '#kube/watch/watch-event.ts';
import { classifyWatchError } from '#kube/watch/watch-error.ts';

const object = { metadata: { name: 'a', uid: 'u', resourceVersion: '7' }, other: { kept: true } };

function read(type: string | undefined, of: unknown): unknown {
  return readWatchEvent(JSON.stringify({ type, object: of }));
}

test('ADDED and MODIFIED store the object, and DELETED removes it', () => {
  assert.deepEqual(read('ADDED', object), { type: 'put', object });
  assert.deepEqual(read('MODIFIED', object), { type: 'put', object });
  assert.deepEqual(read('DELETED', object), { type: 'remove', object });
});

test('a BOOKMARK sets the version to resume from; an annotated one ends the list', () => {
  assert.deepEqual(read('BOOKMARK', { metadata: { resourceVersion: '9' } }), {
    type: 'bookmark',
    resourceVersion: '9',
    initialEnd: false,
  });
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  assert.deepEqual(read('BOOKMARK', { metadata: { resourceVersion: '9', annotations } }), {
    type: 'bookmark',
    resourceVersion: '9',
    initialEnd: true,
  });
});

test('an ERROR event throws an error with its status', () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  assert.throws(
    () => read('ERROR', status),
    (error: unknown) => {
      assert.ok(error instanceof KubeError);
      assert.deepEqual([error.status, error.code, error.reason], [410, 'KUBE_GONE', 'Expired']);
      assert.match(error.message, /watch: 410 Expired: too old/);
      return true;
    },
  );
  assert.throws(() => read('ERROR', undefined), { status: 500, code: 'KUBE_UNAVAILABLE' });
});

test('an invalid watch event is an error, never skipped, as a later one could be lost', () => {
  for (const line of ['', 'null', '3', '[]', '{"type":"ADDED"', '{}', '"ADDED"'])
    assert.throws(() => readWatchEvent(line), SyntaxError, line);
  assert.throws(() => read('ADDED', undefined), /without metadata.resourceVersion/);
  assert.throws(
    () => read('ADDED', { metadata: { name: 'a' } }),
    /without metadata.resourceVersion/,
  );
  assert.throws(() => read('BOOKMARK', { metadata: {} }), /without metadata.resourceVersion/);
  assert.throws(() => read('RENAMED', object), /unknown type: RENAMED/);
});

const status = (init: Partial<ConstructorParameters<typeof KubeError>[0]>): KubeError =>
  new KubeError({ status: 500, what: 'watch', ...init });

test('410, Expired and a version ahead of the server require a new list', () => {
  const ahead = { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } };
  const relist = (error: unknown): boolean => classifyWatchError(error, false).relist;
  assert.ok(relist(status({ status: 410 })));
  assert.ok(relist(status({ status: 500, body: { reason: 'Expired' } })));
  assert.ok(relist(status({ status: 504, body: ahead })));
  assert.ok(!relist(status({ status: 504, body: { reason: 'Timeout' } })));
  assert.ok(!relist(status({ status: 0 })));
  assert.ok(!relist(new SyntaxError('cut')));
});

test('only a refused streaming list switches to paged lists', () => {
  assert.ok(classifyWatchError(status({ status: 422 }), true).paged);
  assert.ok(classifyWatchError(status({ status: 400 }), true).paged);
  assert.ok(!classifyWatchError(status({ status: 422 }), false).paged);
  assert.ok(!classifyWatchError(status({ status: 403 }), true).paged);
  assert.ok(!classifyWatchError(new Error('x'), true).paged);
});

test('a failure has one of a few metric labels, and keeps its Retry-After', () => {
  assert.equal(
    classifyWatchError(status({ status: 0, cause: new Error('x') }), false).reason,
    'unreachable',
  );
  assert.equal(classifyWatchError(status({ status: 429 }), false).reason, '429');
  assert.equal(classifyWatchError(new SyntaxError('cut'), false).reason, 'malformed');
  assert.equal(classifyWatchError(new Error('socket hang up'), false).reason, 'broken');
  assert.equal(
    classifyWatchError(status({ status: 429, retryAfter: 7_000 }), false).retryAfter,
    7_000,
  );
});

test('the error for a truncated line quotes nothing of it: it may hold a Secret', () => {
  const key = Buffer.from('-----BEGIN PRIVATE KEY-----').toString('base64');
  for (const line of [`${key}"}}`, `{"data":{"tls.key":${key}}}`, `{"data":"${key}`]) {
    assert.throws(
      () => readWatchEvent(line),
      (error: unknown) => {
        assert.ok(error instanceof SyntaxError);
        assert.doesNotMatch(`${error.message} ${error.stack ?? ''}`, /LS0|tls/);
        assert.equal(error.cause, undefined);
        return true;
      },
    );
  }
});
