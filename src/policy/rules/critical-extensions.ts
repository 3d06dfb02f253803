// SPDX-License-Identifier: Apache-2.0
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '../../pki/der/oids.ts';
import type { RefusalRule } from '../refusal.ts';
import { shownList } from '../shown.ts';

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
export const criticalExtensions: RefusalRule = ({ request }) => {
  const unknown = request.extensions
    .filter(({ oid, critical }) => critical && !KNOWN.has(oid))
    .map(({ oid }) => oid);
  if (unknown.length === 0) return undefined;
  return {
    reason: 'UnknownCriticalExtension',
    message: `the request marks ${shownList(unknown)} critical, which no leaf of this signer has; ask without it`,
  };
};
