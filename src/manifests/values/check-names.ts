// SPDX-License-Identifier: Apache-2.0
/** Names that values may have, and how one is refused. */
import { usageError } from '../../errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The longest name of an object. */
const MAX_NAME = 253;

/** Whether an object can have this name (RFC 1123 subdomain). */
export function isObjectName(name: string): boolean {
  return name.length <= MAX_NAME && SUBDOMAIN.test(name);
}

/** Components write Events to `default`, and have a Role there. */
export function checkNamespace(at: string, namespace: string): void {
  if (!LABEL.test(namespace)) {
    throw usageError(
      `${at}: "${namespace}" is not a valid name of a namespace; write lower-case letters, digits and hyphens`,
    );
  }
  if (namespace === 'default') {
    throw usageError(`${at}: "default" is everybody's; write a namespace of its own`);
  }
}
