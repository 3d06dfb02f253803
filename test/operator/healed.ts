// SPDX-License-Identifier: Apache-2.0
import { until } from '../cluster/until.ts';
import { judge } from '../../src/reconciling/objects/judge.ts';
import { titleOf, type ManagedObject } from '../../src/reconciling/objects/managed-object.ts';
import { marked, type Owner } from '../../src/reconciling/objects/mark.ts';
import type { ObjectWriter } from '../../src/reconciling/writer.ts';
import { DESIRED, EXAMPLE, WAIT_MS, type Stand } from './stand.ts';

/** What of the installation is not as it is desired. */
export async function differences(
  stand: Stand,
  objects: readonly ManagedObject[] = DESIRED,
): Promise<readonly string[]> {
  return differencesIn(stand.admin, await ownerOf(stand), objects);
}

/** The same of any installation. */
export async function differencesIn(
  admin: Pick<ObjectWriter, 'read'>,
  owner: Owner,
  objects: readonly ManagedObject[],
): Promise<readonly string[]> {
  const found = await Promise.all(
    objects.map(async (object) => {
      const wanted = marked(object, owner);
      const { action, paths, problem } = judge(wanted, await admin.read(wanted));
      if (action === 'leave' && problem === undefined) return [];
      return [`${action} ${titleOf(wanted)} ${paths.join(' ')} ${problem ?? ''}`.trim()];
    }),
  );
  return found.flat();
}

async function ownerOf(stand: Stand): Promise<Owner> {
  const object = await stand.countersign();
  const { apiVersion, kind, metadata } = object ?? EXAMPLE;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, label: 'countersign' };
}

/** Waits until everything is as it is desired. */
export function healed(stand: Stand, objects = DESIRED): Promise<unknown> {
  return until('everything is as desired', WAIT_MS, async () => {
    const left = await differences(stand, objects);
    if (left.length === 0) return true;
    throw new Error(left.join('\n'));
  });
}
