// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/kube/client.ts';
import { loadConnection } from '../../src/kube/kubeconfig.ts';
import { startCluster, type Cluster } from '../../test/cluster/cluster.ts';
import { exactRelease } from '../../test/cluster/releases.ts';
import { applySigner, example, waitForReady } from '../../test/support/fixture.ts';
import { applyManifests, startComponents } from '../../test/support/installation.ts';
import { until } from '../../test/cluster/until.ts';
import { createTeam } from '../../test/support/pods.ts';

/** Where the pods of the requests are said to be: deploy/examples/workload.yaml allows `team-`. */
export const NAMESPACE = 'team-bench';

/** What is shipped, as `make` builds it. */
export const BUNDLE = join(import.meta.dirname, '../../dist/countersign.mjs');

const READY_MS = 60_000;

/** A control plane with a ClusterSigner whose CA may sign; nobody serves it now. */
export interface BenchCluster {
  readonly cluster: Cluster;
  /** The administrator's. */
  readonly client: Client;
  /** Its release. */
  readonly kubernetes: string;
  stop(): Promise<void>;
}

/**
 * No kubelets: the requests are the bench's own. No audit log: a disk is not what is measured. The
 * CA and its bundle are made by our own authority and attester, which are ended before anything is
 * measured.
 */
export async function startBenchCluster(log: (line: string) => void): Promise<BenchCluster> {
  if (!existsSync(BUNDLE)) throw new Error('dist/countersign.mjs is missing: run `make bench`');
  const cluster = await startCluster({ nodes: 0, audit: false, log });
  try {
    await applyManifests(cluster);
    await createTeam(cluster, NAMESPACE, ['web']);
    await makeAuthority(cluster);
    const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
    const client = createClient({ connection, clock: Date.now, userAgent: 'countersign-bench' });
    return {
      cluster,
      client,
      kubernetes: exactRelease(cluster.version),
      stop: async () => {
        await client.close();
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function makeAuthority(cluster: Cluster): Promise<void> {
  const program = [process.execPath, BUNDLE];
  const installation = await startComponents(cluster, { only: ['authority', 'attester'], program });
  try {
    await applySigner(cluster, example('workload'));
    await waitForReady(cluster, 'workload', 'Checked');
    await until('the bundle is published and marked', READY_MS, async () => {
      const { stdout } = await cluster.kubectl(['get', 'clustertrustbundles', '-o', 'json']);
      return stdout.includes('countersign.dev/served-since');
    });
  } finally {
    await installation.stop();
  }
}
