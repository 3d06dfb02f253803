// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { LeafSubject, RequestField } from '../vocabulary.ts';
import { requestedNames } from '../pki/x509/requested-names.ts';

export const EMPTY_SUBJECT: LeafSubject = Object.freeze({
  commonName: '',
  organizations: [],
  organizationalUnits: [],
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
});

/** Neither a subject nor a SAN: a leaf that names nobody. */
export function namesNobody(subject: LeafSubject): boolean {
  return Object.values(subject).every((value: string | readonly string[]) => value.length === 0);
}

/** What a leaf takes of an approved request: the fields that `requests.copy` names, nothing else. */
export function copyRequestedNames(
  request: CertificationRequest,
  copy: readonly RequestField[],
): LeafSubject {
  const asked = requestedNames(request);
  const taken = Object.fromEntries(copy.map((field) => [field, asked[field]]));
  return { ...EMPTY_SUBJECT, ...taken };
}
