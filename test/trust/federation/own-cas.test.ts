// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { ownCas } from '#trust/federation/own-cas.ts';
import { pemOf, spiffeCa } from '../../support/trust/certificates.ts';

const KEYS = 'countersign-keys';
const A = spiffeCa('A');

function bundleOf(secretNamespace: string, signerName?: string): ClusterTrustBundle {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      name: 'a',
      uid: 'b-1',
      resourceVersion: '1',
      creationTimestamp: '2026-11-23T00:00:00Z',
      annotations: {
        'countersign.dev/secret-namespace': secretNamespace,
        'countersign.dev/cluster-signer': 'workload',
      },
    },
    spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle: pemOf(A) },
  };
}

test('a CA in a bundle of this installation is ours, and none of another', () => {
  const signer = 'example.com/workload';
  assert.ok(ownCas([], [bundleOf(KEYS, signer)], KEYS)(A.certificate));
  assert.ok(!ownCas([], [bundleOf('other-keys', signer)], KEYS)(A.certificate));
});

test('a bundle that names no signer makes no CA ours, whatever it says', () => {
  assert.ok(!ownCas([], [bundleOf(KEYS)], KEYS)(A.certificate));
});
