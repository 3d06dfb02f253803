// SPDX-License-Identifier: Apache-2.0
/** Checks of names in values. */
import { ACME_DERIVED_PREFIX } from '#api/acme/names.ts';
import { OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import { checkSignerName } from '#api/signer/signer-name.ts';
import { usageError } from '#base/errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Namespace of Kubernetes itself, whose ServiceAccounts may do nearly everything. */
export const KUBE_SYSTEM = 'kube-system';

/** The longest name of an object. */
const MAX_NAME = 253;

/** Reports whether an object can have this name (RFC 1123 subdomain). */
export function isObjectName(name: string): boolean {
  return name.length <= MAX_NAME && SUBDOMAIN.test(name);
}

/**
 * Checks the name of a namespace. Rejects `default`, where components write Events and have a Role.
 */
export function checkNamespace(at: string, namespace: string): void {
  if (!LABEL.test(namespace)) {
    throw usageError(
      `${at}: "${namespace}" is not a valid name of a namespace; write lower-case letters, digits and hyphens`,
    );
  }
  if (namespace === 'default') {
    throw usageError(`${at}: "default" is shared; write a separate namespace`);
  }
}

/**
 * Checks the signer name of a cluster-scoped signer of any kind. Rejects names that belong to
 * Kubernetes, to the components' own CA, and to signers of namespaces.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function checkServedName(at: string, name: string): void {
  checkSignerName(name);
  if (isDerivedName(name)) {
    throw usageError(
      `${at}: "${name}" is the derived name of a Signer; set namespacedSigners.enabled=true instead`,
    );
  }
  if (name.startsWith(ACME_DERIVED_PREFIX)) {
    throw usageError(
      `${at}: "${name}" is the derived name of an AcmeSigner; set namespacedSigners.enabled=true instead`,
    );
  }
  if (name === OWN_TLS_SIGNER) {
    throw usageError(`${at}: "${name}" is always served; leave it out`);
  }
}
