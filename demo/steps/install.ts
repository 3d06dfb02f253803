// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import {
  applyManifests,
  grantClientCa,
  startComponents,
  type Installation,
} from '../../test/support/cluster/installation.ts';
import type { Tell } from '../story.ts';

const EXAMPLES = join(import.meta.dirname, '../../deploy/examples');
const READY_MS = 30_000;

/** CRD, namespaces, roles and admission policies, then five processes with five identities. */
export async function install(cluster: Cluster, tell: Tell): Promise<Installation> {
  await applyManifests(cluster);
  tell('CRD, namespaces, roles and admission policies applied');
  const installation = await startComponents(cluster);
  for (const { name, pid } of Object.values(installation.components)) {
    tell(
      `${name.padEnd(11)} process ${pid} as system:serviceaccount:countersign-system:countersign-${name}`,
    );
  }
  return installation;
}

/** The two ClusterSigners of the story, until both are Ready and every component is. */
export async function createSigners(
  cluster: Cluster,
  installation: Installation,
  tell: Tell,
): Promise<void> {
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  await cluster.kubectl([
    'apply',
    '-f',
    join(EXAMPLES, 'workload.yaml'),
    '-f',
    join(EXAMPLES, 'people.yaml'),
  ]);
  await cluster.kubectl([
    'wait',
    '--for=condition=Ready',
    '--timeout=30s',
    'clustersigners',
    '--all',
  ]);
  tell((await cluster.kubectl(['get', 'clustersigners'])).stdout);
  await until('the bundle is published', READY_MS, async () => {
    const bundle = 'clustertrustbundle/example.com:workload:primary';
    return (await cluster.kubectl(['get', bundle], { allowFailure: true })).code === 0;
  });
  tell((await cluster.kubectl(['get', 'clustertrustbundles'])).stdout);
  await Promise.all(Object.values(installation.components).map((each) => each.ready(READY_MS)));
  tell('all five components answer /readyz with 200');
}
