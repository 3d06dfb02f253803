// SPDX-License-Identifier: Apache-2.0
/** Checks of names in values. */
import { usageError } from '#base/errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

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
