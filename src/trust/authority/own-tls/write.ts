// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SERVED_SINCE } from '#api/object/cluster-trust-bundle.ts';
import { formatDuration } from '#api/object/duration.ts';
import type { ConfigMap, Secret } from '#api/object/object.ts';
import { DURATION } from '#api/signer/rotation-annotations.ts';
import type { Client } from '#kube/client/client.ts';
import { CONFIG_MAPS, SECRETS } from '#kube/resource/core-v1.ts';
import type { DesiredLeaf } from '#ca/rotation/leaf-renewal.ts';
import { writerLabels } from '../apply/managed-secret.ts';
import { JSON_PATCH, objectPatch, secretPatch } from '../apply/secret-patch.ts';
import { ANCHORS_KEY, type BundlePlan } from './decide-bundle.ts';
import type { NewLeaf } from './issue.ts';

export interface WriteInit {
  readonly client: Client;
  /** Version of Countersign, for the label that names the last writer. */
  readonly version: string;
  readonly signer: ClusterSigner;
}

/**
 * Writes a leaf with one patch, which has the resourceVersion that was read as precondition.
 *
 * @throws KubeError
 */
export function writeLeaf(
  { client, version, signer }: WriteInit,
  secret: Secret,
  { certificate, key }: NewLeaf,
  { durationSeconds }: DesiredLeaf,
): Promise<Secret> {
  return client.request<Secret>({
    method: 'PATCH',
    path: SECRETS.object(secret.metadata),
    contentType: JSON_PATCH,
    body: secretPatch(secret, {
      labels: writerLabels(signer, version),
      annotations: { [DURATION]: formatDuration(durationSeconds) },
      data: { 'tls.crt': certificate, 'tls.key': key },
    }),
  });
}

/**
 * Writes the anchors with one patch, which has the resourceVersion that was read as precondition.
 *
 * @throws KubeError
 */
export function writeBundle(
  { client, version, signer }: WriteInit,
  { configMap, anchors, servedSince }: Extract<BundlePlan, { kind: 'write' }>,
): Promise<ConfigMap> {
  return client.request<ConfigMap>({
    method: 'PATCH',
    path: CONFIG_MAPS.object(configMap.metadata),
    contentType: JSON_PATCH,
    body: objectPatch(configMap, {
      labels: writerLabels(signer, version),
      annotations: { [SERVED_SINCE]: servedSince },
      data: { [ANCHORS_KEY]: anchors },
    }),
  });
}
