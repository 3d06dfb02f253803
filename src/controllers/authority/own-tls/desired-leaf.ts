// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { ownTlsNames } from '../../../api/signer/own-tls.ts';
import { SignerError } from '../../../errors.ts';
import { compileProfile } from '../../../issuance/profile.ts';
import type { DesiredLeaf } from '../../../rotation/leaf-renewal.ts';
import { SERVING_USAGES } from './issue.ts';

/**
 * The desired serving certificate of a component, by the profile of the ClusterSigner whose CA signs it: the
 * first of its key types, its longest duration.
 *
 * @throws SignerError SPEC_INVALID (`wait`) if the profile allows no serving certificate
 */
export function desiredLeafOf(
  signer: ClusterSigner,
  component: string,
  namespace: string,
): DesiredLeaf {
  const profile = compileProfile(signer.spec);
  const [keyType] = profile.keyTypes;
  const lacks = SERVING_USAGES.filter((usage) => !profile.usages.includes(usage));
  if (keyType === undefined || lacks.length > 0) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: `spec.profile.usages of ClusterSigner ${signer.metadata.name} lacks ${lacks.join(' and ')}, which serving certificates need`,
    });
  }
  return {
    keyType,
    dnsNames: ownTlsNames(component, namespace),
    durationSeconds: profile.maxDurationSeconds,
    backdateSeconds: profile.backdateSeconds,
  };
}
