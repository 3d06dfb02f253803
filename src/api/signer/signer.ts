// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign.dev/v1alpha1` Signer: a ClusterSigner for one namespace. Its schema is
 * deploy/crds/signers.yaml. `read-signer.ts` reads it into the shape of a ClusterSigner.
 */
import type { KubeObject, ObjectMeta } from '../object/object.ts';
import { NAMESPACED_DOMAIN } from '#base/authorizing-names.ts';

const PREFIX = `${NAMESPACED_DOMAIN}/`;

/** All signer names of Signers, as `resourceNames` for the verbs `approve` and `sign` in RBAC. */
export const EVERY_DERIVED_NAME = `${PREFIX}*`;

/** The prefix of every derived signer name. */
export const DERIVED_PREFIX = PREFIX;

/**
 * Returns the signer name of a Signer. It is unique: a namespace has no dot, so the first dot ends
 * it.
 */
export function derivedName({
  namespace = '',
  name,
}: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${PREFIX}${namespace}.${name}`;
}

/**
 * Reports whether a signer name is the derived name of a Signer. A ClusterSigner with such a name
 * is invalid.
 */
export function isDerivedName(signerName: string): boolean {
  return signerName.startsWith(PREFIX);
}

/**
 * Returns `namespace/name` of the Signer with this signer name, or undefined if no Signer can have
 * it.
 */
export function derivedFrom(signerName: string): string | undefined {
  if (!isDerivedName(signerName)) return undefined;
  const [namespace = '', ...name] = signerName.slice(PREFIX.length).split('.');
  return name.length === 0 ? undefined : `${namespace}/${name.join('.')}`;
}

/** Reports whether this is a Signer, and not a ClusterSigner. */
export function isNamespaced({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.namespace !== undefined;
}

/**
 * Name of the ConfigMap with the anchors of a namespace's Signers, the same in every namespace. It
 * is also the value of its annotation `countersign.dev/signer-name`.
 */
export const SIGNER_TRUST = NAMESPACED_DOMAIN;

const SUFFIX = '.crt';

/** Maximum length of a ConfigMap's key, the same as of a Signer's name. */
const MAX_CONFIG_MAP_KEY = 253;

/**
 * Returns the key with the anchors of a Signer, in PEM, or undefined if its name is too long for a
 * key.
 */
export function signerTrustKey(signer: string): string | undefined {
  const key = `${signer}${SUFFIX}`;
  return key.length > MAX_CONFIG_MAP_KEY ? undefined : key;
}
