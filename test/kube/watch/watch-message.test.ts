// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { readWatchMessage } from '#kube/watch/watch-message.ts';
import { envelope, type TypeMeta } from '#kube/protobuf/envelope.ts';
import { objectMetaMessage } from '#kube/protobuf/object-meta.ts';
import { bytesField, integerField, message, stringField } from '#kube/protobuf/writer.ts';

const type = { apiVersion: 'v1', kind: 'Thing' };
const metadata = {
  name: 'a',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-11-21T12:00:00Z',
};
const RAW = bytesField(1, objectMetaMessage(metadata));

/** `metav1.WatchEvent` and `runtime.RawExtension`, generated.proto. */
function frame(event: string, object: Uint8Array): Buffer {
  return message(stringField(1, event), bytesField(2, bytesField(1, object)));
}

const seen: [TypeMeta, Uint8Array][] = [];
function read(of: Uint8Array): unknown {
  seen.length = 0;
  return readWatchMessage(of, (is, raw) => {
    seen.push([is, raw]);
    return { metadata };
  });
}

test('ADDED and MODIFIED store the object, and DELETED removes it', () => {
  for (const [event, kind] of [
    ['ADDED', 'put'],
    ['MODIFIED', 'put'],
    ['DELETED', 'remove'],
  ] as const) {
    assert.deepEqual(read(frame(event, envelope(type, RAW))), { type: kind, object: { metadata } });
    assert.deepEqual(
      seen.map(([is, raw]) => [is, Buffer.from(raw)]),
      [[type, RAW]],
    );
  }
});

test('a BOOKMARK sets the version to resume from; an annotated one ends the list', () => {
  const entry = message(stringField(1, 'k8s.io/initial-events-end'), stringField(2, 'true'));
  const last = bytesField(1, message(objectMetaMessage(metadata), bytesField(12, entry)));
  for (const [raw, initialEnd] of [
    [RAW, false],
    [last, true],
  ] as const) {
    assert.deepEqual(read(frame('BOOKMARK', envelope(type, raw))), {
      type: 'bookmark',
      resourceVersion: '7',
      initialEnd,
    });
    assert.deepEqual(seen, []);
  }
});

test('an ERROR event throws an error with its status', () => {
  const cause = message(stringField(1, 'ResourceVersionTooLarge'), stringField(2, 'later'));
  const details = message(bytesField(4, cause), integerField(5, 2));
  const status = message(
    stringField(3, 'too old'),
    stringField(4, 'Expired'),
    bytesField(5, details),
    integerField(6, 410),
  );
  assert.throws(
    () => read(frame('ERROR', envelope({ apiVersion: 'v1', kind: 'Status' }, status))),
    (error: unknown) => {
      assert.ok(error instanceof KubeError);
      assert.deepEqual([error.status, error.code, error.reason], [410, 'KUBE_GONE', 'Expired']);
      assert.match(error.message, /watch: 410 Expired: too old/);
      assert.deepEqual(error.causes, [{ reason: 'ResourceVersionTooLarge', message: 'later' }]);
      assert.equal(error.retryAfter, 2_000);
      return true;
    },
  );
});

test('an invalid watch event is an error, never skipped, as a later one could be lost', () => {
  for (const [why, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['a line', Buffer.from('{"type":"ADDED"}')],
    ['no object', stringField(1, 'ADDED')],
    ['an object without its magic', frame('ADDED', RAW)],
    ['an unknown type', frame('RENAMED', envelope(type, RAW))],
    ['a bookmark of nothing', frame('BOOKMARK', envelope(type, Buffer.alloc(0)))],
  ] as const) {
    assert.throws(() => read(bytes), SyntaxError, why);
  }
});
