// SPDX-License-Identifier: Apache-2.0
/** The objects of an installation for values of the chart, in the order in which they are made. */
import { VERSION } from '../../../app/version.ts';
import { installationFiles } from '../../../manifests/files.ts';
import definitions from '../../../manifests/operator/definitions.json' with { type: 'json' };
import type { Manifest } from '../../../manifests/roles.ts';
import { mergedValues } from '../../../manifests/values/defaults.ts';
import { checkedPlanOf } from '../../../manifests/values/plan.ts';
import { STEPS, ruleOf } from '../../../reconciling/objects/kinds.ts';
import type { ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { readValues } from '../manifests/run.ts';

/**
 * What `countersign manifests` prints for the same values.
 *
 * @param files - of values, the last one wins
 * @param base - values that they are put on
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for values that the chart refuses as well
 */
export async function plannedObjects(
  files: readonly string[],
  base: object = {},
): Promise<readonly ManagedObject[]> {
  const given = await Promise.all(files.map(readValues));
  const values = given.reduce<unknown>(mergedValues, base);
  const plan = checkedPlanOf(values, { namespace: 'default', version: VERSION });
  const manifests: readonly Manifest[] = [
    ...(definitions as readonly Manifest[]),
    ...[...installationFiles(plan).values()].flat(),
  ];
  const objects = manifests as readonly unknown[] as readonly ManagedObject[];
  return objects.toSorted((a, b) => stepOf(a) - stepOf(b));
}

function stepOf(object: ManagedObject): number {
  return STEPS.indexOf(ruleOf(object).step);
}
