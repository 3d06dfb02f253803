// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/signer/cluster-signer.ts';
import type { Client } from '../kube/client/client.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/signers.ts';
import type { Change } from './order.ts';

/** Who wrote these fields, in `managedFields`. */
const FIELD_MANAGER = 'countersign-authority-verbs';

/** The JSON merge patch (RFC 7396) of a change, fenced: it fits the version that was looked at only. */
export function patchOf(signer: ClusterSigner, { annotations, distrust = [] }: Change): object {
  const before = signer.spec.authority.managed?.distrusted ?? [];
  return {
    metadata: {
      resourceVersion: signer.metadata.resourceVersion,
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(distrust.length === 0
      ? {}
      : { spec: { authority: { managed: { distrusted: [...before, ...distrust] } } } }),
  };
}

/**
 * Writes a change with the user's rights.
 *
 * @param dryRun - the API server checks everything, rights and admission too, and stores nothing
 * @throws KubeError KUBE_CONFLICT when somebody changed the ClusterSigner since it was looked at
 */
export async function write(
  client: Client,
  signer: ClusterSigner,
  change: Change,
  dryRun: boolean,
): Promise<void> {
  await client.request({
    method: 'PATCH',
    path: CLUSTER_SIGNERS.object({ name: signer.metadata.name }),
    query: { fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined },
    contentType: 'application/merge-patch+json',
    body: patchOf(signer, change),
  });
}
