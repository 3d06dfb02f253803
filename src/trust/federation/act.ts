// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import {
  FETCHED_AT,
  SPIFFE_SEQUENCE,
  TRUST_DOMAIN,
  federatedBundleName,
} from '#api/object/federated-bundle.ts';
import { formatTime } from '#api/object/time.ts';
import { SECRET_NAMESPACE } from '#api/signer/bundle-annotations.ts';
import { SignerError } from '#base/errors.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Component } from '#component/contract.ts';
import type { FederatedChange, FederatedState } from './decide.ts';

const FIELD_MANAGER = 'countersign-federation';

/**
 * Applies a change with at most one write.
 *
 * @param resource - of ClusterTrustBundles. The `existing` one is as it was judged.
 * @returns the bundle as written, or undefined if nothing was written
 * @throws KubeError
 */
export async function act(
  { client, secretNamespace }: Component,
  resource: Resource,
  { trustDomain, existing }: Pick<FederatedState, 'trustDomain' | 'existing'>,
  change: FederatedChange,
): Promise<ClusterTrustBundle | undefined> {
  const name = federatedBundleName(trustDomain);
  const path = resource.object({ name });
  if (change.kind === 'drop' && existing !== undefined) {
    const { uid, resourceVersion } = existing.metadata;
    const body = { preconditions: { uid, resourceVersion } };
    await client.request({ method: 'DELETE', path, body }).catch(ignoreGone);
  }
  if (change.kind !== 'write') return undefined;
  const { text, sequence, at } = change;
  return client.request<ClusterTrustBundle>({
    method: 'PATCH',
    path,
    query: { fieldManager: FIELD_MANAGER, force: true },
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion: resource.apiVersion,
      kind: 'ClusterTrustBundle',
      metadata: {
        name,
        ...(existing === undefined ? {} : { uid: existing.metadata.uid }),
        labels: { 'app.kubernetes.io/managed-by': 'countersign' },
        annotations: {
          [TRUST_DOMAIN]: trustDomain,
          [SECRET_NAMESPACE]: secretNamespace,
          [FETCHED_AT]: formatTime(at),
          ...(sequence === undefined ? {} : { [SPIFFE_SEQUENCE]: String(sequence) }),
        },
      },
      spec: { trustBundle: text },
    },
  });
}

function ignoreGone(error: unknown): void {
  if (error instanceof SignerError && ['KUBE_NOT_FOUND', 'KUBE_CONFLICT'].includes(error.code))
    return;
  throw error;
}
