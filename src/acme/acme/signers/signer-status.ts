// SPDX-License-Identifier: Apache-2.0
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { formatTime } from '#api/object/time.ts';
import { conditionMessage, findCondition, setCondition } from '#api/request/conditions.ts';
import type { KubeObject } from '#api/object/object.ts';
import { acmeDerivedName } from '#api/acme/names.ts';

/** Status, reason, and message of a condition. */
export interface StatedCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Conditions to write. */
export interface SignerConditions {
  readonly ready: StatedCondition;
  readonly rollOver?: StatedCondition | undefined;
}

/** Condition with the result of the last key roll-over. */
const KEY_ROLLED_OVER = 'KeyRolledOver';

/** Status fields of the server and the account. */
export type ShownStatus = Pick<
  AcmeSignerStatus,
  'account' | 'termsOfService' | 'profiles' | 'persistRecords'
>;

/** Limit on a message, by the CRD. */
const MAX_MESSAGE_BYTES = 4096;

/**
 * Returns the signer with its new status. Fields that `shown` lacks stay.
 *
 * @param rollOver - of the account's key. Undefined keeps the condition
 */
export function withSignerStatus<T extends KubeObject & { readonly status: AcmeSignerStatus }>(
  signer: T,
  { ready, rollOver }: SignerConditions,
  shown: ShownStatus,
  now: number,
): T {
  const { kind, metadata, status } = signer;
  const condition = (type: string, stated: StatedCondition) => ({
    type,
    ...stated,
    message: conditionMessage(stated.message, MAX_MESSAGE_BYTES),
    lastTransitionTime: formatTime(now),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  });
  const conditions = setCondition(status.conditions, condition('Ready', ready));
  return {
    ...signer,
    status: {
      ...status,
      ...shown,
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
      ...(kind === 'AcmeSigner' ? { signerName: acmeDerivedName(metadata) } : {}),
      conditions:
        rollOver === undefined
          ? conditions
          : setCondition(conditions, condition(KEY_ROLLED_OVER, rollOver)),
    },
  };
}

/** Returns the current reason of `Ready`. */
export function readyReasonOf({ conditions }: AcmeSignerStatus): string | undefined {
  return findCondition(conditions, 'Ready')?.reason;
}
