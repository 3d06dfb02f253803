// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/cluster-signer.ts';
import { CLUSTER_SIGNER_UID, SIGNER_NAME } from '../../api/grant.ts';
import type { AuthorityMaterial } from '../../authorities/contract.ts';

/**
 * The Secret of a managed CA: tls.crt and tls.key are the Active one's (signers know no phases),
 * ca.crt the anchors; next.crt and next.key are left to rotation. No ownerReference: deleting a
 * ClusterSigner must not delete its key.
 */
export function managedSecret(signer: ClusterSigner, material: AuthorityMaterial): object {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { namespace, name } = secretOf(signer.spec);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      namespace,
      name,
      labels: { 'app.kubernetes.io/managed-by': 'countersign' },
      annotations: {
        [SIGNER_NAME]: signer.spec.signerName,
        [CLUSTER_SIGNER_UID]: signer.metadata.uid,
      },
    },
    data: {
      'tls.crt': base64(material.certificate),
      'tls.key': base64(material.key),
      'ca.crt': base64(material.anchors ?? material.certificate),
    },
  };
}
