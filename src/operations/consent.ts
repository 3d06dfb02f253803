// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '../api/request/conditions.ts';
import { secretOf, type ClusterSigner } from '../api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '../api/signer/grant.ts';
import { shellWord } from '../quote.ts';

/** By which command the owner of its CA Secret consents; undefined where the signer does not wait for that. */
export function consentCommand(signer: ClusterSigner): string | undefined {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready?.status === 'True' || ready?.reason !== 'SecretNotGranted') return undefined;
  const { namespace, name } = secretOf(signer.spec);
  const grant = shellWord(`${SIGNER_NAME}=${signer.spec.signerName}`);
  return `kubectl annotate --overwrite secret ${name} -n ${namespace} ${grant}   # the consent of its owner`;
}
