// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap } from '../../api/object/object.ts';
import { TRUST_KEY, TRUST_STORE_KEY } from '../../api/object/trust-config-map.ts';
import { SIGNER_NAME } from '../../api/signer/grant.ts';
import { SignerError } from '../../errors.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { TargetChange } from './decide.ts';
import { CONFIG_MAPS } from '../../kube/resource/core-v1.ts';

/** Of server-side apply, and of every other write. */
export const FIELD_MANAGER = 'countersign-trust-distributor';

/**
 * Carries a change out: at most one write. What was there is named with its UID and resourceVersion, so that a ConfigMap
 * which somebody makes or changes meanwhile is judged again.
 *
 * @param existing - as it was judged
 * @returns the ConfigMap as written; undefined where nothing was
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
    log.info(
      fields,
      'ConfigMap with trust anchors deleted: its namespace opted out, or none is left',
    );
    return undefined;
  }
  if (change.kind !== 'apply') return undefined;
  // What others wrote beside our key goes: a program that reads the directory would trust it.
  if (existing !== undefined) return replaced(client, path, change, existing);
  const written = await client.request<ConfigMap>({
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
  log.info(fields, 'ConfigMap with trust anchors written');
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
      // Another version is a conflict.
      { op: 'add', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/data', value: data },
      { op: 'add', path: '/binaryData', value: binaryData },
    ],
  });
}

/** Deletes a ConfigMap as it was judged; one that is gone or changed meanwhile is judged again. @throws KubeError */
export async function deleteConfigMap(
  client: Component['client'],
  { metadata }: ConfigMap,
): Promise<void> {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const path = CONFIG_MAPS.object({ namespace, name });
  const body = { preconditions: { uid, resourceVersion } };
  await client.request({ method: 'DELETE', path, body }).catch(ignoreGone);
}

function ignoreGone(error: unknown): void {
  if (error instanceof SignerError && ['KUBE_NOT_FOUND', 'KUBE_CONFLICT'].includes(error.code))
    return;
  throw error;
}
