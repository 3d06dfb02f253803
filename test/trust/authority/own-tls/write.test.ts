// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { writeBundle, writeLeaf } from '#trust/authority/own-tls/write.ts';
import { recordedClient } from '../../../support/kube/recorded-client.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

const metadata = {
  name: 'countersign-signer-serving',
  namespace: 'countersign-system',
  uid: '5d7b4a1c-0000-4000-8000-000000000009',
  resourceVersion: '1',
  creationTimestamp: '2026-06-01T00:00:00Z',
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
};
const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata };
const leaf = {
  keyType: 'ECDSAP256',
  dnsNames: [],
  durationSeconds: 604_800,
  backdateSeconds: 240,
} as const;

// Helm applies on the server, and refuses an upgrade when another client has set this label.
test('a write keeps the manager label that the installer set on our ports’ objects', async () => {
  const client = recordedClient();
  client.answer(() => secret);
  const init = { client, version: '1.2.3', signer: workload() };
  await writeLeaf(init, secret, { certificate: 'c', key: 'k' }, leaf);
  const configMap = { ...secret, kind: 'ConfigMap' };
  await writeBundle(init, { kind: 'write', configMap, anchors: 'a', servedSince: '{}' });
  const patches = client.requests.map(({ body }) => body as readonly PatchOperation[]);
  for (const patch of patches) {
    const labels = patch.map(({ path }) => path).filter((path) => path.includes('/labels/'));
    assert.deepEqual(labels, [
      '/metadata/labels/app.kubernetes.io~1version',
      '/metadata/labels/countersign.dev~1owner',
      '/metadata/labels/countersign.dev~1generation',
    ]);
  }
  assert.equal(patches.length, 2);
});
