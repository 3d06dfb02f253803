// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign.dev/v1alpha1` Signer: what a ClusterSigner is, for one namespace. Its schema is
 * deploy/crds/signers.yaml; once read it has the shape of a ClusterSigner (`read-signer.ts`).
 */
import type { KubeObject, ObjectMeta } from '../object/object.ts';
import { NAMESPACED_DOMAIN } from './signer-name.ts';

const PREFIX = `${NAMESPACED_DOMAIN}/`;

/** All names of Signers, as RBAC and the API server's own check of `approve` and `sign` write it. */
export const EVERY_DERIVED_NAME = `${PREFIX}*`;

/** By this a text is told to be a name of a Signer. */
export const DERIVED_PREFIX = PREFIX;

/** The signer name of a Signer. A namespace has no dot: the first one ends it, and no two share a name. */
export function derivedName({
  namespace = '',
  name,
}: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${PREFIX}${namespace}.${name}`;
}

/** Whether a signer name is a Signer's. No ClusterSigner of such a name is ever served. */
export function isDerivedName(signerName: string): boolean {
  return signerName.startsWith(PREFIX);
}

/** `namespace/name` of the Signer that has this signer name; undefined where none can have it. */
export function derivedFrom(signerName: string): string | undefined {
  if (!isDerivedName(signerName)) return undefined;
  const [namespace = '', ...name] = signerName.slice(PREFIX.length).split('.');
  return name.length === 0 ? undefined : `${namespace}/${name.join('.')}`;
}

/** Whether this is a Signer, of a namespace, and no ClusterSigner. */
export function isNamespaced({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.namespace !== undefined;
}
