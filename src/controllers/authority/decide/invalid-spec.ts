// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '../../../api/signer/cluster-signer.ts';
import { conditionMessage, setCondition } from '../../../api/request/conditions.ts';
import { formatTime } from '../../../api/object/time.ts';
import { derivedStatus } from './status.ts';
import type { FaultySigner } from '../../../runtime/signers/signer-set.ts';

/** The status of a signer whose spec passed the CRD's schema and is invalid all the same. */
export function invalidSpecStatus(
  { object, error }: FaultySigner,
  now: number,
): ClusterSignerStatus {
  const generation = object.metadata.generation ?? 0;
  const before = (object as Partial<ClusterSigner>).status;
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
