// SPDX-License-Identifier: Apache-2.0
/** The objects of an installation for values of the chart, in the order of their creation. */
import { VERSION } from '#app/version.ts';
import { installationFiles } from '#install/files.ts';
import definitions from '#install/operator/definitions.json' with { type: 'json' };
import type { Manifest } from '#install/roles.ts';
import { mergedValues } from '#install/values/defaults.ts';
import { checkedPlanOf } from '#install/values/plan.ts';
import { stepIndexOf } from '#kube/apply/objects/kinds.ts';
import { type ManagedObject, toManagedObject } from '#kube/apply/objects/managed-object.ts';
import { readValues } from '../manifests/run.ts';

/**
 * Returns the objects that `countersign manifests` prints for the same values.
 *
 * @param files - of values. The last one wins.
 * @param base - values below them
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for values that the chart rejects too
 */
export async function plannedObjects(
  files: readonly string[],
  base: object = {},
): Promise<readonly ManagedObject[]> {
  const given = await Promise.all(files.map(readValues));
  const values = given.reduce<unknown>(mergedValues, base);
  const plan = checkedPlanOf(values, { namespace: 'default', version: VERSION });
  const manifests: readonly Manifest[] = [
    ...definitions,
    ...[...installationFiles(plan).values()].flat(),
  ];
  return manifests.map(toManagedObject).toSorted((a, b) => stepIndexOf(a) - stepIndexOf(b));
}
