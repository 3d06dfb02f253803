// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { quote } from '../../quote.ts';
import type { PodPlan } from './plan.ts';
import type { PodProfile } from '../../issuance/pod-profile.ts';

/** How many errors the message names; a request has room for some ten thousand. */
const MAX_NAMED_ANNOTATIONS = 5;

/** A denial if a pod requests an annotation that the signer does not know, or with a wrong value. */
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
        ? `${quote(key)} may not have the value ${quote(value)}`
        : `${quote(key)} is not an annotation of this signer`,
    );
  if (wrong.length > MAX_NAMED_ANNOTATIONS)
    named.push(`and ${wrong.length - MAX_NAMED_ANNOTATIONS} more`);
  return {
    kind: 'deny',
    reason: 'InvalidUnverifiedUserAnnotations',
    message: `${named.join('; ')}; known: ${known.length === 0 ? 'none' : known.join(', ')}`,
  };
}

/** The annotation that names a Service is looked at with the Services; a pattern narrows it further. */
function isAllowed(pods: PodProfile, key: string, value: string): boolean {
  const matches = pods.annotations.get(key);
  return matches === undefined ? ofService(pods)?.[0] === key : matches(value);
}

function ofService({ services }: PodProfile): readonly [string] | undefined {
  return services?.annotation === undefined ? undefined : [services.annotation];
}
