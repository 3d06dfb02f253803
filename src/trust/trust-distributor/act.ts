// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap } from '#api/object/object.ts';
import { TRUST_KEY, TRUST_STORE_KEY } from '#api/object/trust-config-map.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { SignerError } from '#base/errors.ts';
import { ignoreNamespaceGone } from '#kube/client/kube-error.ts';
import type { Component } from '#component/contract.ts';
import type { TargetChange } from './decide.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import * as messages from './messages.ts';

/** Field manager of all writes. */
export const FIELD_MANAGER = 'countersign-trust-distributor';

/**
 * Applies a change with at most one write, or two for an immutable ConfigMap. The write names the
 * UID and resourceVersion that were judged, so a concurrent change is judged again.
 *
 * @param existing - the ConfigMap as it was judged
 * @returns the ConfigMap as written, or undefined if nothing was written
 * @throws KubeError
 */
export async function act(
  { client, log }: Component,
  target: { readonly namespace: string; readonly name: string },
  change: TargetChange,
  existing: ConfigMap | undefined,
): Promise<ConfigMap | undefined> {
  const path = CONFIG_MAPS.object(target);
  const fields = { kind: 'ConfigMap', ...target };
  if (change.kind === 'delete') {
    await deleteConfigMap(client, change.existing);
    log.info(fields, messages.CONFIG_MAP_DELETED);
    return undefined;
  }
  if (change.kind !== 'apply') return undefined;
  // Removes keys of other writers, since a program that reads the directory would trust them.
  if (existing !== undefined && existing.immutable !== true) {
    return replaced(client, path, change, existing);
  }
  if (!(await clearImmutable(client, existing))) return undefined;
  const created = client.request<ConfigMap>({
    method: 'PATCH',
    path,
    query: { fieldManager: FIELD_MANAGER, force: true },
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...target, ...ours(change) },
      ...contentsOf(change),
    },
  });
  const written = await created.catch(ignoreNamespaceGone);
  if (written !== undefined) log.info(fields, messages.CONFIG_MAP_WRITTEN);
  return written;
}

function ours({ signerName }: Extract<TargetChange, { kind: 'apply' }>): object {
  return {
    labels: { 'app.kubernetes.io/managed-by': 'countersign' },
    annotations: { [SIGNER_NAME]: signerName },
  };
}

function contentsOf({
  text,
  store,
}: Extract<TargetChange, { kind: 'apply' }>): Required<Pick<ConfigMap, 'data' | 'binaryData'>> {
  const binaryData = store === undefined ? {} : { [TRUST_STORE_KEY]: store };
  return { data: { [TRUST_KEY]: text }, binaryData };
}

function replaced(
  client: Component['client'],
  path: string,
  change: Extract<TargetChange, { kind: 'apply' }>,
  { metadata }: ConfigMap,
): Promise<ConfigMap> {
  const { resourceVersion } = metadata;
  const { data, binaryData } = contentsOf(change);
  return client.request<ConfigMap>({
    method: 'PATCH',
    path,
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    body: [
      // A different version causes a conflict.
      { op: 'add', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/data', value: data },
      { op: 'add', path: '/binaryData', value: binaryData },
    ],
  });
}

/**
 * Deletes an immutable ConfigMap, if there is one, so that it can be created again. The API server
 * lets no client change its data, and a user of the namespace must not keep a distrusted CA by it.
 *
 * @returns false if it is missing or changed since it was judged
 * @throws KubeError
 */
export async function clearImmutable(
  client: Component['client'],
  existing: ConfigMap | undefined,
): Promise<boolean> {
  return existing === undefined || deleteConfigMap(client, existing);
}

/**
 * Deletes a ConfigMap as it was judged. A missing or changed one is judged again.
 *
 * @returns false if it is missing or changed
 * @throws KubeError
 */
export async function deleteConfigMap(
  client: Component['client'],
  { metadata }: ConfigMap,
): Promise<boolean> {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const path = CONFIG_MAPS.object({ namespace, name });
  const body = { preconditions: { uid, resourceVersion } };
  try {
    await client.request({ method: 'DELETE', path, body });
    return true;
  } catch (error) {
    if (isMissingOrChanged(error)) return false;
    throw error;
  }
}

function isMissingOrChanged(error: unknown): boolean {
  return error instanceof SignerError && ['KUBE_NOT_FOUND', 'KUBE_CONFLICT'].includes(error.code);
}
