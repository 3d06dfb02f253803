// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { RequestField } from '../vocabulary.ts';
import { EMPTY_SUBJECT, type LeafSubject } from './leaf-subject.ts';
import { requestedNames } from '../pki/x509/requested-names.ts';

/** What a leaf takes of an approved request: the fields that `requests.copy` names, nothing else. */
export function requestSubject(
  request: CertificationRequest,
  copy: readonly RequestField[],
): LeafSubject {
  const asked = requestedNames(request);
  const taken = Object.fromEntries(copy.map((field) => [field, asked[field]]));
  return { ...EMPTY_SUBJECT, ...taken };
}
