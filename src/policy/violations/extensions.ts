// SPDX-License-Identifier: Apache-2.0
import type { ViolationRule } from './violation.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '../../pki/der/oids.ts';
import { quoteList } from '../quote.ts';

/** Nothing of it would be copied; but who asks to be a CA must not believe to have become one. */
export const certificateAuthority: ViolationRule = ({ request }) =>
  request.isCa
    ? {
        reason: 'CertificateAuthority',
        message:
          'the request asks to be a CA (basicConstraints with cA TRUE); leaves are never CAs, ask without it',
      }
    : undefined;

/** What a request may ask by extension: each has a rule of its own here, or is a name. */
const KNOWN: ReadonlySet<string> = new Set([
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
]);

/**
 * Critical means: refuse what you do not understand (RFC 5280 §4.2). Other extensions are left out
 * of the leaf; extensions that occur twice do not decode.
 */
export const criticalExtensions: ViolationRule = ({ request }) => {
  const unknown = request.extensions
    .filter(({ oid, critical }) => critical && !KNOWN.has(oid))
    .map(({ oid }) => oid);
  if (unknown.length === 0) return undefined;
  return {
    reason: 'UnknownCriticalExtension',
    message: `the request marks ${quoteList(unknown)} critical, which no leaf of this signer has; ask without it`,
  };
};
