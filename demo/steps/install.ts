// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { until } from '../../test/cluster/until.ts';
import { grantClientCa } from '../../test/support/cluster/installation.ts';
import type { Cast } from '../cast/cast.ts';
import type { Tell } from '../story.ts';

const EXAMPLES = join(import.meta.dirname, '../../deploy/examples');
const READY_MS = 30_000;

/** The two ClusterSigners of the story, until both are Ready and every component is. */
export async function createSigners(cast: Cast, tell: Tell): Promise<void> {
  const { cluster } = cast;
  const consent = { name: 'people-ca', signerName: 'example.com/people' };
  await grantClientCa(cluster, consent, cast.peopleCa);
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
    '--timeout=60s',
    'clustersigners',
    '--all',
  ]);
  tell((await cluster.kubectl(['get', 'clustersigners'])).stdout);
  await until('the bundle is published', READY_MS, async () => {
    const bundle = 'clustertrustbundle/example.com:workload:primary';
    return (await cluster.kubectl(['get', bundle], { allowFailure: true })).code === 0;
  });
  tell((await cluster.kubectl(['get', 'clustertrustbundles'])).stdout);
  await cast.ready(tell);
}
