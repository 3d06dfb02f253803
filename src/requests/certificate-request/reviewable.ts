// SPDX-License-Identifier: Apache-2.0
import { DEFAULT_USAGES, type CertificateRequest } from '#api/request/certificate-request.ts';
import { parseGoDuration } from '#api/object/duration.ts';
import type { Violation } from '#ca/policy/violations/violation.ts';
import { MIN_REQUESTED_SECONDS } from '../issuing/leaf-template.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import * as messages from './messages.ts';

/**
 * Returns the request in the form that rules see.
 *
 * @param request - without a {@link specViolation}, so that its duration can be parsed
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
 * Returns why no rule and no profile can ever allow the spec, apart from its PKCS#10 request: it
 * requests a CA, or its duration is not a Go duration or too short. Returns undefined if it is
 * valid.
 */
export function specViolation({ spec }: CertificateRequest): Violation | undefined {
  if (spec.isCA === true) {
    return {
      reason: 'CertificateAuthority',
      message: messages.CA_REQUESTED,
    };
  }
  const { duration } = spec;
  if (duration === undefined) return undefined;
  const seconds = parseGoDuration(duration);
  if (seconds !== undefined && seconds >= MIN_REQUESTED_SECONDS) return undefined;
  return {
    reason: 'InvalidDuration',
    message: messages.shortDuration(duration),
  };
}
