// SPDX-License-Identifier: Apache-2.0
/**
 * The chart where admission treats pods as OpenShift's restricted-v2 does: it sets a user, a group
 * and an SELinux label of the namespace's range, and admits no others.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { LEVEL, USER, restrict } from '../clusters/restricted-v2.ts';
import { ONE, SYSTEM, startStand, type Stand } from './stand.ts';

const WAIT_MS = 120_000;

let stand: Stand;
before(async () => {
  stand = await startStand({ realPods: false });
  for (const namespace of [SYSTEM, 'countersign-keys'])
    await stand.cluster.kubectl(['create', 'namespace', namespace]);
  await restrict(stand.cluster, SYSTEM);
});
after(() => stand.close());

test('every pod of the chart is admitted, with the ids that admission sets', async () => {
  await stand.install({ ...ONE, namespace: SYSTEM, namespaces: { create: false } });
  const deployments = await stand.all('deployments');
  const wanted = deployments.reduce((sum, each) => sum + specOf(each).replicas, 0);
  assert.ok(wanted >= 12);
  const pods = await until('every pod is admitted', WAIT_MS, async () => {
    const found = await stand.all('pods');
    return found.length >= wanted && found;
  });
  for (const pod of pods) {
    const { runAsNonRoot, runAsUser, fsGroup, seLinuxOptions } = specOf(pod).securityContext;
    assert.deepEqual(
      { runAsNonRoot, runAsUser, fsGroup, seLinuxOptions },
      { runAsNonRoot: true, runAsUser: USER, fsGroup: USER, seLinuxOptions: { level: LEVEL } },
    );
  }
});

interface Spec {
  readonly replicas: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

function specOf(object: object): Spec {
  return (object as { readonly spec: Spec }).spec;
}
