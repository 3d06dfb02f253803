// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  SERVED_SINCE,
  bundleName,
  servedSince,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';

const bundle = (annotation?: string): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'ClusterTrustBundle',
  metadata: {
    name: 'example.com:workload:primary',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    ...(annotation === undefined ? {} : { annotations: { [SERVED_SINCE]: annotation } }),
  },
  spec: { trustBundle: '' },
});

test("a bundle's name is its signer name with colons, a colon and its own name", () => {
  assert.equal(bundleName('example.com/workload', 'primary'), 'example.com:workload:primary');
});

test('served-since is read as milliseconds', () => {
  const served = servedSince(bundle('{"sha256:a":"2026-11-21T06:00:00Z"}'));
  assert.deepEqual([...served], [['sha256:a', Date.UTC(2026, 10, 21, 6)]]);
});

for (const text of ['', 'null', '[]', '7', '{', '{"sha256:a":5}', '{"sha256:a":"soon"}']) {
  test(`an anchor with served-since ${JSON.stringify(text)} counts as not served`, () => {
    assert.equal(servedSince(bundle(text)).size, 0);
  });
}

test('without the annotation no anchor counts as served', () => {
  assert.equal(servedSince(bundle()).size, 0);
});
