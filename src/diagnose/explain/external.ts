// SPDX-License-Identifier: Apache-2.0
import type { ExternalSigner } from '#api/external/external-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import type { Diagnosis } from './explanation.ts';
import { describeCommand, signerText } from './signer-view.ts';

/** Explains an ExternalClusterSigner, and when its CA is called again. Pure. */
export function explainExternalSigner(signer: ExternalSigner): Diagnosis {
  const { metadata, spec, status } = signer;
  const ready = findCondition(status.conditions, 'Ready');
  const isReady = ready?.status === 'True';
  const why = ready === undefined ? 'external-signer has not looked at it yet' : reasonText(ready);
  const { server, mount, role } = spec.authority.vault;
  const { retryAt } = status;
  return {
    state: isReady ? 'Ready' : 'NotReady',
    summary: isReady
      ? `${signerText(signer)} serves ${spec.signerName} by role ${role} of ${server}/${mount}`
      : `${signerText(signer)} does not serve ${spec.signerName}: ${why}`,
    ...(isReady || retryAt === undefined
      ? {}
      : { next: { what: 'external-signer orders a certificate again', at: retryAt } }),
    timeline: [
      { at: metadata.creationTimestamp, what: `${signerText(signer)} is created` },
      ...conditionMoments(status.conditions),
    ],
    remediation: isReady ? [] : [describeCommand(signer), 'countersign check'],
  };
}
