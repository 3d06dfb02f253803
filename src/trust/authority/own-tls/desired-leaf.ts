// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { ownTlsNames } from '#api/signer/own-tls.ts';
import { SignerError } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import type { DesiredLeaf } from '#ca/rotation/leaf-renewal.ts';
import { SERVING_USAGES } from './issue.ts';
import * as messages from '../messages.ts';

/**
 * Returns the desired serving certificate of a component: the first key type and the longest
 * duration of the profile of the ClusterSigner whose CA signs it.
 *
 * @throws SignerError SPEC_INVALID (`wait`) if the profile allows no serving certificate
 */
export function desiredLeafOf(
  signer: ClusterSigner,
  component: string,
  namespace: string,
): DesiredLeaf {
  const profile = compileProfile(signer.spec);
  if (signer.spec.intermediates !== undefined) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: messages.signsNoLeaf(signer.metadata.name),
    });
  }
  const [keyType] = profile.keyTypes;
  const lacks = SERVING_USAGES.filter((usage) => !profile.usages.includes(usage));
  if (keyType === undefined || lacks.length > 0) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: messages.usagesMissing(signer.metadata.name, lacks),
    });
  }
  return {
    keyType,
    dnsNames: ownTlsNames(component, namespace),
    durationSeconds: profile.maxDurationSeconds,
    backdateSeconds: profile.backdateSeconds,
  };
}
