// SPDX-License-Identifier: Apache-2.0
import { formatDuration } from '../api/object/duration.ts';
import type { ReviewableRequest } from '../api/request/reviewable-request.ts';
import { requestedNames, unsupportedParts } from '../pki/x509/requested-names.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import { quoteList } from '../quote.ts';
import { REQUEST_FIELDS, type RequestField } from '../vocabulary.ts';

/** What a leaf takes from an approved request. */
export interface Granted {
  /** The names that are copied, and no others. */
  readonly copy: readonly RequestField[];
  /** The longest validity. */
  readonly maxDurationSeconds: number;
}

/**
 * What a request asks for and its leaf does not get: names that are not copied, and a longer validity. Extensions and
 * attributes are not named, because no leaf gets any.
 *
 * @returns undefined if the leaf has all of it
 * @throws SignerError NAME_INVALID where a name of the request is not canonical
 */
export function withheld(
  spec: Pick<ReviewableRequest['spec'], 'expirationSeconds'>,
  request: CertificationRequest,
  { copy, maxDurationSeconds }: Granted,
): string | undefined {
  const asked = requestedNames(request);
  const names = REQUEST_FIELDS.filter((field) => !copy.includes(field)).flatMap((field) => {
    const values = [asked[field]].flat().filter((value) => value !== '');
    return values.length === 0
      ? []
      : [`no ${field} ${quoteList(values)}: spec.requests.copy does not list ${field}`];
  });
  const others = unsupportedParts(request);
  const { expirationSeconds = 0 } = spec;
  const parts = [
    ...names,
    ...(others.length === 0 ? [] : [`no ${quoteList(others)}: no leaf gets that`]),
    ...(expirationSeconds <= maxDurationSeconds
      ? []
      : [
          `valid for ${formatDuration(maxDurationSeconds)} and not for ${formatDuration(expirationSeconds)}: spec.profile.maxDuration`,
        ]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}
