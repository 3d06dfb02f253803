// SPDX-License-Identifier: Apache-2.0
import { quote } from '../../quote.ts';
import { DEFAULT_USAGES, type CertificateRequest } from '../../api/request/certificate-request.ts';
import { formatDuration, parseGoDuration } from '../../api/object/duration.ts';
import type { Violation } from '../../policy/violations/violation.ts';
import { MIN_REQUESTED_SECONDS } from '../../runtime/issuing/leaf-template.ts';
import type { ReviewableRequest } from '../../api/request/reviewable-request.ts';

/**
 * The request as rules see every request.
 *
 * @param request - {@link specViolation} finds none in it, so that its duration can be parsed
 */
export function toReviewableRequest({ metadata, spec }: CertificateRequest): ReviewableRequest {
  const { duration, usages, request, username, uid, groups, extra } = spec;
  const seconds = duration === undefined ? undefined : parseGoDuration(duration);
  const { name, namespace } = metadata;
  return {
    metadata: namespace === undefined ? { name } : { name, namespace },
    spec: {
      request,
      usages: usages === undefined || usages.length === 0 ? DEFAULT_USAGES : usages,
      ...(seconds === undefined ? {} : { expirationSeconds: seconds }),
      ...(username === undefined ? {} : { username }),
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
    },
  };
}

/**
 * Why no rule and no profile can ever allow the spec, apart from its PKCS#10 request: it asks for a CA, or its
 * duration is no Go duration or too short. Undefined if nothing is wrong.
 */
export function specViolation({ spec }: CertificateRequest): Violation | undefined {
  if (spec.isCA === true) {
    return {
      reason: 'CertificateAuthority',
      message:
        'spec.isCA is true, but signers issue no CA certificates; create a new request without it',
    };
  }
  const { duration } = spec;
  if (duration === undefined) return undefined;
  const seconds = parseGoDuration(duration);
  if (seconds !== undefined && seconds >= MIN_REQUESTED_SECONDS) return undefined;
  return {
    reason: 'InvalidDuration',
    message: `spec.duration is ${quote(duration, 40)}; set at least ${formatDuration(MIN_REQUESTED_SECONDS)}, or omit it to get the longest validity that the profile allows`,
  };
}
