// SPDX-License-Identifier: Apache-2.0
/**
 * The APIService of the ledger's API. By its `caBundle` the API server authenticates the ledger's
 * port.
 */
import type { ConfigMap, KubeObject } from '#api/object/object.ts';
import { FILLED_BY } from '#api/signer/own-tls.ts';
import { resource } from '#kube/resource/resource.ts';
import type { PatchOperation } from '../apply/secret-patch.ts';
import { ANCHORS_KEY } from './decide-bundle.ts';

/** The part of an APIService that is read (apiregistration.k8s.io/v1). */
export interface ApiService extends KubeObject {
  readonly spec: {
    /** PEM in base64. */
    readonly caBundle?: string | null;
  };
}

export const API_SERVICES = resource({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
});

/**
 * Returns the patch (RFC 6902) that writes the anchors of our own ports into an APIService, with
 * the version that was read. Returns undefined if they are there, or its owner does not let
 * `authority` fill it in.
 */
export function caBundlePatch(
  service: ApiService | undefined,
  configMap: ConfigMap | undefined,
  signerName: string,
): readonly PatchOperation[] | undefined {
  const anchors = configMap?.data?.[ANCHORS_KEY] ?? '';
  if (service === undefined || anchors === '') return undefined;
  const { annotations, resourceVersion } = service.metadata;
  if (annotations?.[FILLED_BY] !== signerName) return undefined;
  const caBundle = Buffer.from(anchors).toString('base64');
  if (service.spec.caBundle === caBundle) return undefined;
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/spec/caBundle', value: caBundle },
  ];
}
