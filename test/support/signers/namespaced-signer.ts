// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import { readSigner } from '#api/signer/read-signer.ts';
import { clusterSigner, without, workloadSpec } from './cluster-signer.ts';

/** The spec of design §2 as a team writes it for itself. */
export function teamSpec(): Record<string, unknown> {
  const spec = without(workloadSpec(), 'signerName', 'trustBundle');
  return { ...spec, authority: { secret: { name: 'team-ca' } } };
}

/** Signer team-a/web, as the API server hands it out. */
export function namespacedSigner(
  spec: unknown = teamSpec(),
  metadata: Partial<ObjectMeta> = {},
): KubeObject & { readonly spec: unknown } {
  const object = clusterSigner(spec);
  const own = { namespace: 'team-a', name: 'web', ...metadata };
  return { ...object, kind: 'Signer', metadata: { ...object.metadata, ...own } };
}

/** The same, read. */
export function teamSigner(
  metadata: Partial<ObjectMeta> = {},
  status?: ClusterSignerStatus,
): ClusterSigner {
  const read = readSigner(namespacedSigner(teamSpec(), metadata));
  return status === undefined ? read : { ...read, status };
}
