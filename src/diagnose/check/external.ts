// SPDX-License-Identifier: Apache-2.0
/** The check of ExternalClusterSigners. Pure: facts in, outcomes out. */
import type { ExternalSigner } from '#api/external/external-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, error, ok, whereSeen, type Outcome } from './finding.ts';

const subjectOf = (name: string): string => `externalclustersigner/${name}`;

/** `external-signers-ready` */
export function checkExternalSigners({ external }: InstallationFacts): readonly Outcome[] {
  return whereSeen(external, ({ signers, invalid }) => {
    if (signers.length + invalid.length === 0) return [ok('there is no ExternalClusterSigner')];
    const faults = [
      ...invalid.map(({ name, why }) =>
        error(why, 'correct the field that is named', subjectOf(name)),
      ),
      ...signers.flatMap(notReady),
    ];
    return allWell(faults, `all ${signers.length} ExternalClusterSigners are Ready`);
  });
}

function notReady({ metadata, status }: ExternalSigner): readonly Outcome[] {
  const subject = subjectOf(metadata.name);
  const ready = findCondition(status.conditions, 'Ready');
  if (ready === undefined || status.observedGeneration !== metadata.generation) {
    const remediation = 'check that external-signer runs: components.external-signer.enabled';
    return [error('external-signer has not looked at its spec yet', remediation, subject)];
  }
  if (ready.status === 'True') return [];
  const remediation = `countersign explain ${subject}`;
  return [error(`${ready.reason ?? 'Unknown'}: ${ready.message ?? ''}`, remediation, subject)];
}
