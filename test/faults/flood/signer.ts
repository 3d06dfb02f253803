// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { example } from '../../support/cluster/fixture.ts';
import { SIGNER_NAMES } from '../lab/wanted.ts';

/** A ClusterSigner that signs at once, as it publishes nothing, and its CA. */
export async function createSignerObjects(): Promise<{ signer: object; secret: object }> {
  const { trustBundle: _, ...spec } = example('workload').spec;
  const { certificate, key, anchors } = await createManagedAuthorities((size) => randomBytes(size))(
    { keyType: 'ECDSAP256', commonName: 'flood', durationSeconds: 86_400 * 30, now: Date.now() },
  );
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return {
    signer: {
      apiVersion: 'countersign.dev/v1alpha1',
      kind: 'ClusterSigner',
      metadata: {
        name: 'workload',
        uid: 'signer',
        resourceVersion: '1',
        generation: 1,
        creationTimestamp,
      },
      spec,
      status: {
        observedGeneration: 1,
        conditions: [{ type: 'Ready', status: 'True', reason: 'Checked', message: '' }],
      },
    },
    secret: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: {
        name: 'workload-ca',
        namespace: 'countersign-keys',
        uid: 'secret',
        resourceVersion: '1',
        creationTimestamp,
        annotations: { 'countersign.dev/signer-name': SIGNER_NAMES.pcr },
      },
      data: { 'tls.crt': base64(certificate), 'tls.key': base64(key), 'ca.crt': base64(anchors) },
    },
  };
}
