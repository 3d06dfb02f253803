// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { PodPlan } from './plan.ts';
import type { PodProfile } from '#ca/issuance/pod-profile.ts';
import * as messages from './messages.ts';

/** Maximum number of errors in the message. A request has room for some ten thousand. */
const MAX_NAMED_ANNOTATIONS = 5;

/**
 * Returns a denial if a pod requests an annotation that the signer does not know, or with a wrong
 * value.
 */
export function checkAnnotations(
  request: PodCertificateRequest,
  pods: PodProfile,
): PodPlan | undefined {
  const wrong = Object.entries(request.spec.unverifiedUserAnnotations ?? {}).filter(
    ([key, value]) => !isAllowed(pods, key, value),
  );
  if (wrong.length === 0) return undefined;
  const known = [...pods.annotations.keys(), ...(ofService(pods) ?? [])];
  const named = wrong
    .slice(0, MAX_NAMED_ANNOTATIONS)
    .map(([key, value]) =>
      pods.annotations.has(key)
        ? messages.invalidValue(key, value)
        : messages.unknownAnnotation(key),
    );
  if (wrong.length > MAX_NAMED_ANNOTATIONS)
    named.push(messages.moreAnnotations(wrong.length - MAX_NAMED_ANNOTATIONS));
  return {
    kind: 'deny',
    reason: 'InvalidUnverifiedUserAnnotations',
    message: messages.invalidAnnotations(named, known),
  };
}

/**
 * Reports whether an annotation is allowed. The one that names a Service is checked with the
 * Services as well. A pattern restricts it further.
 */
function isAllowed(pods: PodProfile, key: string, value: string): boolean {
  const matches = pods.annotations.get(key);
  return matches === undefined ? ofService(pods)?.[0] === key : matches(value);
}

function ofService({ services }: PodProfile): readonly [string] | undefined {
  return services?.annotation === undefined ? undefined : [services.annotation];
}
