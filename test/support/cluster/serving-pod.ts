// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { SYSTEM_NAMESPACE } from './installation.ts';
import { apply } from './apply.ts';

const MOUNT_MS = 120_000;

/** What a component and a scraper mount; the directories on the node, kept fresh by its kubelet. */
export async function mountServing(
  cluster: Cluster,
  secretName: string,
): Promise<{ readonly serving: string; readonly ca: string }> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: SYSTEM_NAMESPACE, name: 'serving' },
    spec: {
      serviceAccountName: 'countersign-approver',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [
            { name: 'serving', mountPath: '/run/countersign/serving' },
            { name: 'ca', mountPath: '/run/countersign/ca' },
          ],
        },
      ],
      volumes: [
        { name: 'serving', secret: { secretName, optional: true } },
        { name: 'ca', configMap: { name: 'countersign-serving-ca' } },
      ],
    },
  };
  await apply(cluster, pod);
  const { stdout: uid } = await cluster.kubectl([
    'get',
    'pod',
    'serving',
    '-n',
    SYSTEM_NAMESPACE,
    '-o',
    'jsonpath={.metadata.uid}',
  ]);
  const volumes = join(cluster.nodes[0]?.rootDirectory ?? '', 'pods', uid, 'volumes');
  const serving = join(volumes, 'kubernetes.io~secret', 'serving');
  const ca = join(volumes, 'kubernetes.io~configmap', 'ca');
  await until('the volumes are mounted', MOUNT_MS, () => existsSync(serving) && existsSync(ca));
  return { serving, ca };
}
