// SPDX-License-Identifier: Apache-2.0
import { CA_BUNDLE_RESOURCES } from '#api/object/ca-bundle-target.ts';
import { caBundleObject } from '#api/object/ca-bundle-object.ts';
import type { ConfigMap, KubeObject } from '#api/object/object.ts';
import { TRUST_KEY, trustConfigMapName } from '#api/object/trust-config-map.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { keysOf } from '#base/object-keys.ts';
import { listVisible } from '#diagnose/check/reading/list-visible.ts';
import type { Client } from '#kube/client/client.ts';
import type { SignerState } from '#operations/signer-state.ts';
import type { TrustTarget } from './pages/trust-anchors.ts';

/** Objects to which the anchors of a bundle are copied, as far as the person may list them. */
export interface ReadTargets {
  readonly targets: readonly TrustTarget[];
  /** Missing permissions. */
  readonly lacks: readonly string[];
}

/**
 * Reads the ConfigMaps of a signer's bundle, and the objects with a `caBundle` whose owner named
 * the signer.
 *
 * @throws KubeError for any error but 403
 */
export async function readTargets(
  client: Client,
  { signer, bundle }: Pick<SignerState, 'signer' | 'bundle'>,
): Promise<ReadTargets> {
  const { signerName } = signer.spec;
  const isNamed = ({ metadata }: KubeObject): boolean =>
    metadata.annotations?.[SIGNER_NAME] === signerName;
  const fieldSelector =
    typeof bundle === 'object' ? `metadata.name=${trustConfigMapName(bundle.metadata.name)}` : '';
  const read = await Promise.all([
    ...(typeof bundle === 'object' ? [readConfigMaps(client, fieldSelector, isNamed)] : []),
    ...keysOf(CA_BUNDLE_RESOURCES).map((plural) => {
      const { group, kind } = CA_BUNDLE_RESOURCES[plural];
      return listVisible(client, { group, version: 'v1', plural }, (object: KubeObject) => {
        if (!isNamed(object)) return [];
        const { metadata, places } = caBundleObject(plural, object);
        const text = places.map((each) => each.text).join('\n');
        return [{ kind, name: metadata.name, text }];
      });
    }),
  ]);
  return {
    targets: read.flatMap((each) => ('value' in each ? each.value : [])),
    lacks: read.flatMap((each) => ('lacks' in each ? [each.lacks] : [])),
  };
}

function readConfigMaps(
  client: Client,
  fieldSelector: string,
  isNamed: (object: KubeObject) => boolean,
): ReturnType<typeof listVisible<ConfigMap, TrustTarget>> {
  const listing = { group: '', version: 'v1', plural: 'configmaps', fieldSelector };
  return listVisible<ConfigMap, TrustTarget>(client, listing, (object) => {
    if (!isNamed(object)) return [];
    const { namespace, name } = object.metadata;
    return [{ kind: 'ConfigMap', namespace, name, text: object.data?.[TRUST_KEY] ?? '' }];
  });
}
