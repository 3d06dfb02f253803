// SPDX-License-Identifier: Apache-2.0
/** What the host of real pods must give to a volume of root, as most clouds have it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { startStorage } from '../cluster/storage.ts';
import { until } from '../cluster/until.ts';
import { create, nodePod, openStand, SKIP, statusOf, type Stand } from './stand.ts';

const WAIT_MS = 60_000;
const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
};
const SCRIPT = `const fs = require('node:fs');
  const { uid, gid, mode } = fs.statSync('/data');
  const before = fs.readdirSync('/data');
  let fault = null;
  try { fs.writeFileSync('/data/' + process.env.NAME, '') } catch (error) { fault = error.code }
  console.log(JSON.stringify({ uid, gid, mode: mode.toString(8), before, fault }))`;

describe('volumes of root in pods that really run', { skip: SKIP }, () => {
  let stand: Stand;
  let cluster: Cluster;
  let storage: Awaited<ReturnType<typeof startStorage>>;
  before(async () => {
    stand = await openStand({ nodes: 1 });
    cluster = stand.cluster;
    storage = await startStorage(cluster, { ownedByRoot: true });
    await create(cluster, CLAIM);
  });
  after(async () => {
    await storage.stop();
    await stand.remove();
  });

  /** What a pod of user 65532 finds in the volume, and whether it may write. */
  async function found(name: string, fsGroup?: number): Promise<unknown> {
    const ids = { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532 };
    const container = {
      env: [{ name: 'NAME', value: name }],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    };
    const spec = {
      securityContext: fsGroup === undefined ? ids : { ...ids, fsGroup },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: CLAIM.metadata.name } }],
    };
    await create(cluster, nodePod(name, SCRIPT, container, spec));
    await until(`${name} has ended`, WAIT_MS, async () => {
      const [main] = (await statusOf(cluster, name)).containerStatuses ?? [];
      return main?.state.terminated !== undefined;
    });
    const { stdout } = await cluster.kubectl(['logs', name]);
    // The kubelet mounts a volume until its pod is deleted.
    const isSeenOutside = readFileSync('/proc/self/mountinfo', 'utf8').includes('local-volume');
    await cluster.kubectl(['delete', 'pod', name]);
    return { ...(JSON.parse(stdout) as object), isSeenOutside };
  }

  // concepts/storage/volumes, and tasks/configure-pod-container/security-context: fsGroup.
  test('a volume belongs to root until a pod with an fsGroup mounts it, unseen outside', async () => {
    const ofRoot = { uid: 0, gid: 0, mode: '40755', before: [], isSeenOutside: false };
    assert.deepEqual(await found('none'), { ...ofRoot, fault: 'EACCES' });
    const ofGroup = { ...ofRoot, gid: 7_000, mode: '42775' };
    assert.deepEqual(await found('grouped', 7_000), { ...ofGroup, fault: null });
    assert.deepEqual(await found('next', 7_000), { ...ofGroup, before: ['grouped'], fault: null });
  });
});
