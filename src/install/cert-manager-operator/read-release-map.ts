// SPDX-License-Identifier: Apache-2.0
import { RELEASE_KEY, releaseMapOf } from '#api/operator/cert-manager-deployment.ts';
import type { ConfigMap } from '#api/object/object.ts';
import { isRefusal, type Refusal } from '../reconcile/desired.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, ignoreNotFound } from '#kube/client/kube-error.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import * as messages from './messages.ts';

/** Returns the objects of a release file of that version, or the reason of its refusal. */
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
 * Reads releases from their ConfigMaps. It caches an accepted release until its ConfigMap changes,
 * because unpacking takes a second or two.
 *
 * @returns a function that throws KubeError if the API server does not answer
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
    const message = messages.releaseNotReadable(reference.namespace, reference.name, error.message);
    return { reason: 'MissingPermissions', message };
  }
}

function missing(namespace: string, name: string): Refusal {
  const message = messages.releaseMissing(namespace, name, messages.createRelease(namespace));
  return { reason: 'ManifestMissing', message };
}

function withoutKey(namespace: string, name: string): Refusal {
  const message = messages.releaseKeyMissing(namespace, name, messages.createRelease(namespace));
  return { reason: 'ManifestMissing', message };
}
