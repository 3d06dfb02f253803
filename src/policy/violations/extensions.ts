// SPDX-License-Identifier: Apache-2.0
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '../../pki/der/oids.ts';
import { quoteList } from '../../quote.ts';
import type { ViolationRule } from './violation.ts';

/**
 * A request for a CA certificate. The leaf would not get the extension anyway; denied, the requester does
 * not take the leaf for a CA.
 */
export const certificateAuthority: ViolationRule = ({ request }) =>
  request.isCa
    ? {
        reason: 'CertificateAuthority',
        message:
          'the request asks for a CA certificate (basicConstraints with cA TRUE), and this signer issues leaf certificates only; remove the extension',
      }
    : undefined;

/** The extensions that requests may mark critical: another rule or the copied names handle each. */
const KNOWN: ReadonlySet<string> = new Set([
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
]);

/**
 * Critical extensions that are unknown must be refused (RFC 5280 §4.2). Other extensions are ignored;
 * extensions that occur twice do not decode.
 */
export const criticalExtensions: ViolationRule = ({ request }) => {
  const unknown = request.extensions
    .filter(({ oid, critical }) => critical && !KNOWN.has(oid))
    .map(({ oid }) => oid);
  if (unknown.length === 0) return undefined;
  return {
    reason: 'UnknownCriticalExtension',
    message: `the request marks ${quoteList(unknown)} critical, and this signer does not issue that extension; remove it from the request`,
  };
};
