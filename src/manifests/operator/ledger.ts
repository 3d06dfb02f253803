// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';

/** Whether anything is recorded, where, and what is kept: the mould has the flags in the danger zone, too, or never. */
const DANGEROUS = ['mode', 'postgres', 'checkpoints', 'retention', 'omit'] as const;

/**
 * Refuses what the operator's own role cannot bound. Which Secrets the ledger looks at is bounded by it.
 *
 * @param dangerZone - whether an administrator lets the writer say what is recorded
 */
export function refuseLedger(
  { ledger = {} }: Pick<CountersignSpec, 'ledger'>,
  dangerZone: boolean,
): Refusal | undefined {
  const found = dangerZone ? undefined : DANGEROUS.find((each) => ledger[each] !== undefined);
  if (found === undefined) return undefined;
  const message = `spec.ledger.${found}: it decides whether, where and for how long it is recorded who has a certificate; an administrator adds --allow-danger-zone to the operator’s flags`;
  return { reason: 'DangerZoneNotAllowed', message };
}
