// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '../../../api/signer/cluster-signer.ts';
import type { TrustMemory } from '../../../rotation/trust-memory.ts';
import { formatDuration } from '../../../api/object/duration.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { derivedName, isNamespaced } from '../../../api/signer/signer.ts';
import { formatTime } from '../../../api/object/time.ts';
import {
  degraded,
  fullLeavesUntil,
  rotating,
  rotationDue,
  type ConditionContent,
  type ConditionInput,
} from './conditions.ts';
import { readyIfServed, served, servingNow, unrecorded, withContents } from './served.ts';
import { ownCaReplacementTime } from './own-ca.ts';

/** The whole status as the authority component, its only writer, writes it. */
export function statusOf(input: ConditionInput): ClusterSignerStatus {
  const { snapshot, finding, managed, authorities } = input;
  const { signer, now } = snapshot;
  const generation = signer.metadata.generation ?? 0;
  const before = signer.status;
  const serving = servingNow(snapshot);
  const contents = [readyIfServed(ready(input), serving)];
  if (serving !== undefined) contents.push(served(serving), ...unrecorded(serving));
  // If the CA was not inspected, nothing new is known of it.
  if (finding.inspected) contents.push(rotationDue(input), rotating(input), degraded(input));
  const conditions = withContents(signer, contents, now);
  const next = finding.inspected ? managed?.deadline : undefined;
  const nextRotation = next === undefined ? before?.nextRotation : formatTime(next);
  return {
    observedGeneration: generation,
    ...derivedStatus(signer),
    conditions,
    authorities,
    ...memoryOf(before),
    ...(nextRotation === undefined ? {} : { nextRotation }),
  };
}

/** The basis of trust, as decide() put it into the snapshot. */
function memoryOf(
  status: ClusterSignerStatus | undefined,
): TrustMemory & Pick<ClusterSignerStatus, 'retainedAnchors'> {
  const { crossCertificates, distrusted, retainedAnchors } = status ?? {};
  return {
    ...(retainedAnchors === undefined ? {} : { retainedAnchors }),
    ...(crossCertificates === undefined ? {} : { crossCertificates }),
    ...(distrusted === undefined ? {} : { distrusted }),
  };
}

/** The derived signer name of a Signer, for people who write it into a pod. */
export function derivedStatus(signer: KubeObject): Pick<ClusterSignerStatus, 'signerName'> {
  return isNamespaced(signer) ? { signerName: derivedName(signer.metadata) } : {};
}

function ready({ snapshot, finding, authorities }: ConditionInput): ConditionContent {
  const type = 'Ready';
  const { reason, message, isReady, active } = finding;
  const waits = authorities.some(
    ({ phase, fingerprint }) => phase === 'Prepared' && fingerprint === active?.fingerprint,
  );
  if (active === undefined || !waits) {
    return { type, status: isReady ? 'True' : 'False', reason, message };
  }
  const span = formatDuration(snapshot.propagationSeconds);
  return {
    type,
    status: 'True',
    reason: 'Propagating',
    message: `${active.fingerprint} signs once its anchor has been published for ${span}; until then signers continue with the CA before it`,
  };
}

/** When a condition changes by time alone; milliseconds. */
export function conditionsChangeAt({
  snapshot,
  managed,
  authorities,
}: ConditionInput): readonly number[] {
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return [];
  const cutShort = fullLeavesUntil(active);
  return managed === undefined
    ? [cutShort, ownCaReplacementTime(active, snapshot.propagationSeconds).at]
    : [cutShort];
}
