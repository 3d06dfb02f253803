// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { conditionMessage, setCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { derivedStatus } from './status.ts';
import type { FaultySigner } from '#component/signers/signer-set.ts';
import type { StatusedSigner } from '#api/signer/read-signer.ts';

/** Returns the status of a signer whose spec passes the CRD's schema but is invalid. */
export function invalidSpecStatus(
  { object, error }: FaultySigner,
  now: number,
): ClusterSignerStatus {
  const generation = object.metadata.generation ?? 0;
  const { status: before }: StatusedSigner = object;
  return {
    ...before,
    observedGeneration: generation,
    ...derivedStatus(object),
    conditions: setCondition(before?.conditions, {
      type: 'Ready',
      status: 'False',
      reason: 'InvalidSpec',
      message: conditionMessage(error.message),
      observedGeneration: generation,
      lastTransitionTime: formatTime(now),
    }),
  };
}
