// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import * as messages from './messages.ts';

/**
 * Rejects key holders, which the operator's own role cannot bound: their settings name Secrets to
 * mount, give the consent of the keys' owners, and are the limits that the keys are kept for. The
 * flag `--key-holder` of the components is in the danger zone, too.
 *
 * @param dangerZone - the administrator lets the writer decide what the keys may sign
 */
export function refuseKeyHolders(
  { components = {} }: Pick<CountersignSpec, 'components'>,
  dangerZone: boolean,
): Refusal | undefined {
  if (dangerZone) return undefined;
  const found = Object.entries(components).find(([, each]) => each['keyHolder'] !== undefined);
  if (found === undefined) return undefined;
  return { reason: 'DangerZoneNotAllowed', message: messages.dangerousKeyHolder(found[0]) };
}
