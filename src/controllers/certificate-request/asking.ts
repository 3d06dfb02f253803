// SPDX-License-Identifier: Apache-2.0
import { quote } from '../../quote.ts';
import { DEFAULT_USAGES, type CertificateRequest } from '../../api/request/certificate-request.ts';
import { formatDuration, parseGoDuration } from '../../api/object/duration.ts';
import type { Violation } from '../../policy/violations/violation.ts';
import { MIN_REQUESTED_SECONDS } from '../../runtime/issuing/leaf-template.ts';
import type { ReviewableRequest } from '../../api/request/reviewable-request.ts';

/** A CertificateRequest as policy looks at requests. Its duration is one that {@link faultOf} took. */
export function askingOf({ metadata, spec }: CertificateRequest): ReviewableRequest {
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

/** What of a CertificateRequest besides its PKCS#10 request can never be answered with a leaf. */
export function faultOf({ spec }: CertificateRequest): Violation | undefined {
  if (spec.isCA === true) {
    return {
      reason: 'CertificateAuthority',
      message: 'spec.isCA is true; no profile allows a leaf to be a CA, ask without it',
    };
  }
  const { duration } = spec;
  if (duration === undefined) return undefined;
  const seconds = parseGoDuration(duration);
  if (seconds !== undefined && seconds >= MIN_REQUESTED_SECONDS) return undefined;
  return {
    reason: 'InvalidDuration',
    message: `spec.duration is ${quote(duration, 40)}; ask for at least ${formatDuration(MIN_REQUESTED_SECONDS)}, or leave it out for the longest that the profile allows`,
  };
}
