// SPDX-License-Identifier: Apache-2.0
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import type { ViolationRule } from './violation.ts';
import * as messages from '../denial-messages.ts';

/**
 * Rejects a request for a CA certificate. The leaf would not get the extension anyway. The denial
 * prevents that the requester takes the leaf for a CA.
 */
export const certificateAuthority: ViolationRule = ({ request }) =>
  request.isCa
    ? {
        reason: 'CertificateAuthority',
        message: messages.CA_CERTIFICATE,
      }
    : undefined;

/** The extensions that requests may mark critical. Another rule or the copied names handle each. */
const KNOWN: ReadonlySet<string> = new Set([
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
]);

/**
 * Rejects unknown critical extensions, as RFC 5280 §4.2 requires. Other extensions are ignored, and
 * duplicate extensions do not decode.
 */
export const criticalExtensions: ViolationRule = ({ request }) => {
  const unknown = request.extensions
    .filter(({ oid, critical }) => critical && !KNOWN.has(oid))
    .map(({ oid }) => oid);
  if (unknown.length === 0) return undefined;
  return {
    reason: 'UnknownCriticalExtension',
    message: messages.unknownCriticalExtensions(unknown),
  };
};
