// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { LeafSubject, RequestField } from '#base/vocabulary.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';

/** A subject without names, the base of other subjects. */
export const EMPTY_SUBJECT: LeafSubject = Object.freeze({
  commonName: '',
  organizations: [],
  organizationalUnits: [],
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
});

/**
 * Reports whether a leaf would have neither a subject nor a SAN, which RFC 5280 §4.1.2.6 forbids.
 */
export function namesNobody(subject: LeafSubject): boolean {
  return Object.values(subject).every((value: string | readonly string[]) => value.length === 0);
}

/**
 * Returns the names that a leaf gets from an approved request: the fields in `spec.requests.copy`,
 * and no others.
 *
 * @throws SignerError NAME_INVALID (`fail`) if a name of the request is not canonical
 */
export function copyRequestedNames(
  request: CertificationRequest,
  copy: readonly RequestField[],
): LeafSubject {
  const asked = requestedNames(request);
  const taken = Object.fromEntries(copy.map((field) => [field, asked[field]]));
  return { ...EMPTY_SUBJECT, ...taken };
}
