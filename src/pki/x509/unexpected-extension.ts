// SPDX-License-Identifier: Apache-2.0
import {
  OID_AUTHORITY_INFORMATION_ACCESS,
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CERTIFICATE_POLICIES,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../der/oids.ts';
import type { Certificate } from './certificate.ts';

/** The extension of RFC 6962 §3.3. */
const OID_SIGNED_CERTIFICATE_TIMESTAMPS = '1.3.6.1.4.1.11129.2.4.2';

/** Extensions that do not identify the subject, or that the requester compares with the request. */
const LEAF_EXTENSIONS: ReadonlySet<string> = new Set([
  OID_AUTHORITY_INFORMATION_ACCESS,
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_CERTIFICATE_POLICIES,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SIGNED_CERTIFICATE_TIMESTAMPS,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
]);

/**
 * Returns an extension of another CA's leaf that can hold an identity which no check compares, such
 * as Microsoft's security identifier (1.3.6.1.4.1.311.25.2).
 *
 * @param allowed - OIDs to accept, besides those that every CA uses (RFC 5280 §4.2, RFC 6962 §3.3)
 * @returns the OID of the first one, or undefined if there is none
 */
export function unexpectedExtension(
  { extensions }: Pick<Certificate, 'extensions'>,
  allowed: readonly string[],
): string | undefined {
  return extensions
    .map(({ oid }) => oid)
    .find((oid) => !LEAF_EXTENSIONS.has(oid) && !allowed.includes(oid));
}
