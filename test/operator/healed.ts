// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { makePodsReady } from '../support/cluster/ready-pods.ts';
import { planObject } from '#kube/apply/objects/plan-object.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { marked, type Owner } from '#kube/apply/objects/mark.ts';
import type { ObjectWriter } from '#kube/apply/writer.ts';
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
      const { action, paths, problem } = planObject(wanted, await admin.read(wanted));
      if (action === 'none' && problem === undefined) return [];
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

/**
 * Waits until everything is as it is desired, while pods become Ready: what leads to them is made
 * after that.
 */
export function healed(stand: Stand, objects = DESIRED): Promise<unknown> {
  return until('everything is as desired', WAIT_MS, async () => {
    await makePodsReady(stand.client);
    const left = await differences(stand, objects);
    if (left.length === 0) return true;
    throw new Error(left.join('\n'));
  });
}

/**
 * Starts another process that knows nothing of the first, and holds it to one write: that of an
 * object which was deleted so that there is something to wait for.
 *
 * @returns that process
 */
export async function secondPassWritesNothing(
  stand: Stand,
  operator: ComponentProcess,
): Promise<ComponentProcess> {
  await operator.stop();
  const before = (await stand.writes()).length;
  const next = await stand.start();
  // Once it is back, all before it and the ones behind it were compared.
  const gone = DESIRED.find(({ kind }) => kind === 'PodDisruptionBudget');
  assert.ok(gone);
  const live = await stand.admin.read(gone);
  assert.ok(live);
  await stand.admin.remove(live);
  await healed(stand);
  await next.ready();
  const { namespace = '', name } = gone.metadata;
  const written = (await stand.writes()).slice(before);
  assert.deepEqual(written, [`patch poddisruptionbudgets ${namespace}/${name}`]);
  return next;
}
