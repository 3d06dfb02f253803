// SPDX-License-Identifier: Apache-2.0
import type { ObjectMeta } from '../object/object.ts';
import { ACME_NAMESPACED_DOMAIN } from '#base/authorizing-names.ts';

export const ACME_GROUP = 'acme.countersign.dev';
export const ACME_VERSION = 'v1alpha1';

const kind = (plural: string) => ({ group: ACME_GROUP, version: ACME_VERSION, plural }) as const;

/** Group, version and plural of the kinds, for URLs and RBAC rules. */
export const ACME_CLUSTER_SIGNERS = kind('acmeclustersigners');
export const ACME_SIGNERS = kind('acmesigners');
export const ORDERS = kind('orders');
export const CHALLENGES = kind('challenges');

/**
 * Default namespace of the DNS credentials of AcmeClusterSigners. An administrator may name another
 * one.
 */
export const CREDENTIAL_NAMESPACE = 'countersign-dns';

/** Domain of AcmeSigners' derived signer names. No other signer may use it. */
export const ACME_DERIVED_PREFIX = `${ACME_NAMESPACED_DOMAIN}/`;

/**
 * All signer names of AcmeSigners, as `resourceNames` for the verbs `approve` and `sign` in RBAC.
 */
export const EVERY_ACME_DERIVED_NAME = `${ACME_DERIVED_PREFIX}*`;

/**
 * Returns the signer name of an AcmeSigner. It is unique: a namespace has no dot, so the first dot
 * ends it.
 */
export function acmeDerivedName({
  namespace = '',
  name,
}: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${ACME_DERIVED_PREFIX}${namespace}.${name}`;
}

/**
 * Returns `namespace/name` of the AcmeSigner with this signer name, or undefined if no AcmeSigner
 * can have it.
 */
export function acmeDerivedFrom(signerName: string): string | undefined {
  if (!signerName.startsWith(ACME_DERIVED_PREFIX)) return undefined;
  const [namespace = '', ...name] = signerName.slice(ACME_DERIVED_PREFIX.length).split('.');
  return name.length === 0 ? undefined : `${namespace}/${name.join('.')}`;
}

/** Finalizer of Challenges for which a solver must clean up. Only `acme` removes it. */
export const CLEAN_UP_FINALIZER = `${ACME_GROUP}/clean-up`;

/** Label of Challenges: uid of their Order. */
export const ORDER_UID_LABEL = `${ACME_GROUP}/order-uid`;

/**
 * Reasons that a subscriber may give (RFC 5280 §5.3.1, CA/Browser Forum BR §7.2.2), by the value of
 * the annotation.
 */
export const REVOCATION_CODES = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
} as const;

/** A value of {@link REVOKE_ANNOTATION}. */
export type RevocationReasonName = keyof typeof REVOCATION_CODES;

/**
 * Annotation of an Order whose certificate the CA must revoke. Its value is a
 * {@link RevocationReasonName}. Setting it requires the verb `revoke` on the signer.
 */
export const REVOKE_ANNOTATION = `${ACME_GROUP}/revoke`;

/**
 * Reason of the condition `Issuing` that `acme` sets on Certificates of cert-manager. An admission
 * policy allows `acme` no other reason.
 */
export const RENEWAL_MARK_REASON = 'RenewalInfo';

/** Annotation of an Order: uid and generation of its signer when the Order was created. */
export const SIGNER_VERSION_ANNOTATION = 'acme.countersign.dev/signer-version';
