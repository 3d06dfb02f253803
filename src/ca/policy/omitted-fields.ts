// SPDX-License-Identifier: Apache-2.0
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import { requestedNames, unsupportedParts } from '#pki/x509/requested-names.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { REQUEST_FIELDS, type RequestField } from '#base/vocabulary.ts';
import * as messages from './omission-messages.ts';

/** The parts of an approved request that its leaf gets. */
export interface GrantedFields {
  /** The copied names, and no others. */
  readonly copy: readonly RequestField[];
  /** The longest validity. */
  readonly maxDurationSeconds: number;
}

/**
 * Returns what a request contains and its leaf lacks: names that are not copied, and a longer
 * validity. Omits extensions and attributes, because no leaf gets any.
 *
 * @returns undefined if the leaf has all of it
 * @throws SignerError NAME_INVALID if a name of the request is not canonical
 */
export function omittedFields(
  spec: Pick<ReviewableRequest['spec'], 'expirationSeconds'>,
  request: CertificationRequest,
  { copy, maxDurationSeconds }: GrantedFields,
): string | undefined {
  const asked = requestedNames(request);
  const names = REQUEST_FIELDS.filter((field) => !copy.includes(field)).flatMap((field) => {
    const values = [asked[field]].flat().filter((value) => value !== '');
    return values.length === 0 ? [] : [messages.omittedNames(field, values)];
  });
  const others = unsupportedParts(request);
  const { expirationSeconds = 0 } = spec;
  const parts = [
    ...names,
    ...(others.length === 0 ? [] : [messages.omittedParts(others)]),
    ...(expirationSeconds <= maxDurationSeconds
      ? []
      : [messages.shorter(maxDurationSeconds, expirationSeconds)]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}
