// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import * as messages from './messages.ts';

/**
 * Settings of recording, storage and retention. The flag schema has their flags in the danger zone,
 * too, or never. `aggregatedApi` makes the deletion of namespaces depend on the ledger.
 */
const DANGEROUS = [
  'aggregatedApi',
  'mode',
  'postgres',
  'checkpoints',
  'retention',
  'omit',
] as const;

/**
 * Rejects settings that the operator's own role cannot bound. Its role bounds the Secrets that the
 * ledger monitors.
 *
 * @param dangerZone - the administrator lets the writer choose what is recorded
 */
export function refuseLedger(
  { ledger = {} }: Pick<CountersignSpec, 'ledger'>,
  dangerZone: boolean,
): Refusal | undefined {
  const found = dangerZone ? undefined : DANGEROUS.find((each) => ledger[each] !== undefined);
  if (found === undefined) return undefined;
  const what = found === 'aggregatedApi' ? messages.AGGREGATED_API : messages.RECORDING;
  const message = messages.dangerousLedger(found, what);
  return { reason: 'DangerZoneNotAllowed', message };
}
