// SPDX-License-Identifier: Apache-2.0
import type { AcmeSignerStatus } from '../../../api/acme/index.ts';
import { formatTime } from '../../../api/object/time.ts';
import { conditionMessage, findCondition, setCondition } from '../../../api/request/conditions.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { acmeDerivedName } from '../../../api/acme/index.ts';

/** What a condition says. */
export interface StatedCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** What the status says by conditions. */
export interface SignerConditions {
  readonly ready: StatedCondition;
  readonly rollOver?: StatedCondition | undefined;
}

/** The condition that says what came of the last roll-over of the account's key. */
const KEY_ROLLED_OVER = 'KeyRolledOver';

/** What the status says of the server and the account. */
export type ShownStatus = Pick<
  AcmeSignerStatus,
  'account' | 'termsOfService' | 'profiles' | 'persistRecords'
>;

/** The CRD's limits of a message and of a reason. */
const MAX_MESSAGE_BYTES = 4096;

/**
 * The signer with what its status is to say; what `shown` leaves out stays as it was.
 *
 * @param rollOver - of the account's key; undefined: what was said of it stays
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

/** The reason that `Ready` has now. */
export function readyReasonOf({ conditions }: AcmeSignerStatus): string | undefined {
  return findCondition(conditions, 'Ready')?.reason;
}
