// SPDX-License-Identifier: Apache-2.0
import { RELEASE_KEY, releaseMapOf } from '../../api/operator/cert-manager-deployment.ts';
import type { ConfigMap } from '../../api/object/object.ts';
import { isRefusal, type Refusal } from '../../installing/desired.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError, ignoreNotFound } from '../../kube/client/kube-error.ts';
import { CONFIG_MAPS } from '../../kube/resource/core-v1.ts';
import type { ManagedObject } from '../../reconciling/objects/managed-object.ts';

/** The objects of a release file of that version, or why it is not taken. */
export type AcceptRelease = (
  version: string,
  file: Uint8Array,
) => Promise<readonly ManagedObject[] | Refusal>;

interface ReleaseReaderInit {
  readonly client: Client;
  readonly namespace: string;
  readonly accept: AcceptRelease;
}

/**
 * Reads releases from their ConfigMaps. A release that was taken is kept until its ConfigMap changes: to unpack it takes a
 * second or two.
 *
 * @returns a function that throws KubeError where the API server does not answer
 */
export function createReleaseReader({
  client,
  namespace,
  accept,
}: ReleaseReaderInit): (version: string) => Promise<readonly ManagedObject[] | Refusal> {
  let kept: { readonly key: string; readonly objects: readonly ManagedObject[] } | undefined;
  return async (version) => {
    const name = releaseMapOf(version);
    const map = await read(client, { namespace, name });
    if (map === undefined || isRefusal(map)) return map ?? missing(namespace, name);
    const key = [version, map.metadata.uid, map.metadata.resourceVersion].join(' ');
    if (kept?.key === key) return kept.objects;
    const file = map.binaryData?.[RELEASE_KEY];
    if (file === undefined) return withoutKey(namespace, name);
    const release = await accept(version, Buffer.from(file, 'base64'));
    if (isRefusal(release))
      return { ...release, message: `ConfigMap ${namespace}/${name}: ${release.message}` };
    kept = { key, objects: release };
    return release;
  };
}

async function read(
  client: Client,
  reference: { readonly namespace: string; readonly name: string },
): Promise<ConfigMap | Refusal | undefined> {
  try {
    const path = CONFIG_MAPS.object(reference);
    return await client.request<ConfigMap>({ method: 'GET', path }).catch(ignoreNotFound);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const message = `ConfigMap ${reference.namespace}/${reference.name}: ${error.message}; apply what countersign rbac --cert-manager-operator prints`;
    return { reason: 'RightsMissing', message };
  }
}

/** How a user makes it. */
function remedy(namespace: string, name: string): string {
  return `gzip cert-manager.yaml of the release and run: kubectl create configmap ${name} -n ${namespace} --from-file=${RELEASE_KEY}`;
}

function missing(namespace: string, name: string): Refusal {
  const message = `ConfigMap ${namespace}/${name} is not there; ${remedy(namespace, name)}`;
  return { reason: 'ManifestMissing', message };
}

function withoutKey(namespace: string, name: string): Refusal {
  const message = `ConfigMap ${namespace}/${name} has no binaryData ${RELEASE_KEY}; delete it, then ${remedy(namespace, name)}`;
  return { reason: 'ManifestMissing', message };
}
