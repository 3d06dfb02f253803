// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { summarizeSigner, type AuthoritySummary } from '#operations/show/signer-summary.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import type { Diagnosis, TimelineEntry } from './explanation.ts';
import { describeCommand, signerText } from './signer-view.ts';

/** Explains a ClusterSigner or Signer, and the next step of its CAs. Pure. */
export function explainSigner(state: SignerState): Diagnosis {
  const { signer } = state;
  const summary = summarizeSigner(state);
  const ready = findCondition(signer.status?.conditions, 'Ready');
  const [soonest] = summary.authorities
    .flatMap(({ next }) => (next === undefined ? [] : [next]))
    .toSorted((a, b) => a.at.localeCompare(b.at));
  const isReady = ready?.status === 'True';
  const why = ready === undefined ? 'authority has not looked at it yet' : reasonText(ready);
  return {
    state: isReady ? 'Ready' : 'NotReady',
    summary: isReady
      ? `${signerText(signer)} serves ${signer.spec.signerName}${heldText(summary.heldKey)}`
      : `${signerText(signer)} does not serve ${signer.spec.signerName}${heldText(summary.heldKey)}: ${why}`,
    timeline: [
      { at: signer.metadata.creationTimestamp, what: `${signerText(signer)} is created` },
      ...conditionMoments(signer.status?.conditions),
      ...summary.authorities.flatMap(authorityMoments),
    ],
    ...(soonest === undefined ? {} : { next: { what: `a CA ${soonest.what}`, at: soonest.at } }),
    remediation: [
      ...summary.warnings,
      ...(isReady ? [] : [remedyCommand(signer) ?? describeCommand(signer), 'countersign check']),
    ],
  };
}

/** Returns where the key of the CA is, if not in a Secret. */
function heldText(key: string | undefined): string {
  return key === undefined ? '' : `, with key ${key} of a key holder`;
}

function authorityMoments({
  fingerprint,
  phase,
  notBefore,
  notAfter,
}: AuthoritySummary): readonly TimelineEntry[] {
  return [
    { at: notBefore, what: `CA ${fingerprint} (${phase}) becomes valid` },
    { at: notAfter, what: `CA ${fingerprint} (${phase}) ends` },
  ];
}
