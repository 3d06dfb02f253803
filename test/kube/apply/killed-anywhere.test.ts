// SPDX-License-Identifier: Apache-2.0
/**
 * Killed after each write of an installation and of an upgrade, with every object of the real
 * manifests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { DesiredInstallation } from '#install/reconcile/desired.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';
import { SPEC, made } from '../../install/operator/specs.ts';

const OWNER = { apiVersion: 'v1', kind: 'K', name: 'cluster', uid: 'ours', label: 'countersign' };

class Killed extends Error {}

/** What a process writes is stored at once, and it is killed when it has written so much. */
class Cluster {
  readonly objects: Map<string, ManagedObject>;
  writes = 0;
  #left = Infinity;

  constructor(before?: Cluster) {
    this.objects = new Map(before?.objects);
  }

  /** One process: passes until one writes nothing. @param writes - after which it is killed */
  async run(desired: DesiredInstallation, installing: boolean, writes = Infinity): Promise<void> {
    this.#left = writes;
    const accepted = new Set<string>();
    let report: PassReport;
    do {
      report = await reconcileAll({
        objects: desired.objects,
        removable: desired.removable,
        owner: OWNER,
        accepted,
        installing,
        heldUntil: () => undefined,
        signal: new AbortController().signal,
        watches: {
          get: () => undefined,
          written: () => undefined,
          all: () => [...this.objects.values()],
        },
        writer: {
          read: (each) => Promise.resolve(this.objects.get(titleOf(each))),
          apply: (each) => this.#write(() => this.#applied(each)),
          patch: (each) => this.#write(() => this.#applied(each)),
          remove: (each) => this.#write(() => void this.objects.delete(titleOf(each))),
        },
      });
      assert.deepEqual(report.problems, []);
    } while (report.changes.length > 0);
  }

  /** Server-side apply by the only manager that there is; pods are there at once. */
  #applied(object: ManagedObject): ManagedObject {
    const replicas = (object['spec'] as { replicas?: number } | undefined)?.replicas ?? 1;
    const status = {
      observedGeneration: 1,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
      conditions: [{ type: 'Available', status: 'True' }],
    };
    const stored = object.kind === 'Deployment' ? { ...object, status } : object;
    this.objects.set(titleOf(object), stored);
    return stored;
  }

  #write<T>(write: () => T): Promise<T> {
    if (this.#left === 0) return Promise.reject(new Killed());
    this.#left -= 1;
    this.writes += 1;
    return Promise.resolve(write());
  }
}

/** Without the definitions, which take most of the time: their sums are of a megabyte. */
function desiredOf(spec: CountersignSpec): DesiredInstallation {
  const desired = made(spec);
  const objects = desired.objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  return { ...desired, objects };
}

async function finished(desired: DesiredInstallation, before?: Cluster): Promise<Cluster> {
  const cluster = new Cluster(before);
  await cluster.run(desired, true);
  return cluster;
}

/**
 * Kills one after each number of writes; the next one ends what it began. @returns how many were
 * killed
 */
async function killedAnywhere(desired: DesiredInstallation, before?: Cluster): Promise<number> {
  const whole = await finished(desired, before);
  for (let writes = 0; writes < whole.writes; writes += 1) {
    const cluster = new Cluster(before);
    await assert.rejects(cluster.run(desired, true, writes), Killed);
    await cluster.run(desired, true);
    assert.deepEqual(cluster.objects, whole.objects, `killed after ${writes} writes`);
    // No write was wasted: each object was written once.
    assert.equal(cluster.writes, whole.writes, `killed after ${writes} writes`);
  }
  return whole.writes;
}

test('an installation killed after any write ends the same and writes nothing twice', async (t) => {
  const writes = await killedAnywhere(desiredOf(SPEC));
  assert.ok(writes > 50);
  t.diagnostic(`${writes} kills`);
});

test('an upgrade that leaves out a component ends the same if killed after any write', async (t) => {
  const before = await finished(desiredOf(SPEC));
  const components = { 'certificate-request': { enabled: false } };
  const next = desiredOf({ ...SPEC, version: '0.1.1', components });
  const writes = await killedAnywhere(next, before);
  assert.ok(writes > 10);
  const left = [...(await finished(next, before)).objects.keys()];
  const component = /^(?:Deployment|ClusterRole|ServiceAccount) .*countersign-certificate-request$/;
  assert.deepEqual(
    left.filter((each) => component.test(each)),
    [],
  );
  t.diagnostic(`${writes} kills`);
});
