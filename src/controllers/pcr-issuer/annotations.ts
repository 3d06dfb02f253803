// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/pod-certificate-request.ts';
import type { PodProfile } from '../../issuance/pod-profile.ts';
import type { Plan } from './decide.ts';

/** How much of a foreign text is repeated in a message. */
const SHOWN = 80;

/** A denial when a pod asks by an annotation that the signer does not know, or with a wrong value. */
export function checkAnnotations(
  request: PodCertificateRequest,
  pods: PodProfile,
): Plan | undefined {
  const wrong: string[] = [];
  for (const [key, value] of Object.entries(request.spec.unverifiedUserAnnotations ?? {})) {
    const matches = pods.annotations.get(key);
    if (matches === undefined) {
      wrong.push(`"${key.slice(0, SHOWN)}" is not an annotation of this signer`);
    } else if (!matches(value)) {
      wrong.push(`"${key}" may not have the value "${value.slice(0, SHOWN)}"`);
    }
  }
  if (wrong.length === 0) return undefined;
  const known = [...pods.annotations.keys()];
  return {
    kind: 'deny',
    reason: 'InvalidUnverifiedUserAnnotations',
    message: `${wrong.join('; ')}; known: ${known.length === 0 ? 'none' : known.join(', ')}`,
  };
}
