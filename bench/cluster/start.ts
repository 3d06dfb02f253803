// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '#kube/client/client.ts';
import {
  openCluster,
  startCluster,
  type Cluster,
  type ClusterOptions,
} from '../../test/cluster/cluster.ts';
import { exactRelease } from '../../test/cluster/releases.ts';
import { applySigner, example, waitForUsableCa } from '../../test/support/cluster/fixture.ts';
import {
  applyManifests,
  grantClientCa,
  startComponents,
} from '../../test/support/cluster/installation.ts';
import { until } from '../../test/cluster/until.ts';
import { createTeam } from '../../test/support/cluster/pods.ts';
import { administratorOf } from './administrator.ts';

/** Where the pods of the requests are said to be: deploy/examples/workload.yaml allows `team-`. */
export const NAMESPACE = 'team-bench';

/** What is shipped, as `make` builds it. */
export const BUNDLE = join(import.meta.dirname, '../../dist/countersign.mjs');

/**
 * No kubelets: the requests are the bench's own. No audit log: a disk is not what is measured.
 * kube-controller-manager leaves certificates alone: whoever signs is started by a bench, and
 * finished requests stay until the bench deletes them. etcd may hold 100,000 objects and their
 * history.
 */
export const CLUSTER: ClusterOptions = {
  nodes: 0,
  audit: false,
  flags: {
    // Else 100,000 objects are deleted one after the other.
    'kube-apiserver': ['--delete-collection-workers=16'],
    etcd: [`--quota-backend-bytes=${8 * 2 ** 30}`],
    'kube-controller-manager': [
      `--controllers=${[
        '*',
        '-certificatesigningrequest-approving-controller',
        '-certificatesigningrequest-signing-controller',
        '-certificatesigningrequest-cleaner-controller',
        '-podcertificaterequest-cleaner-controller',
      ].join(',')}`,
    ],
  },
};

const READY_MS = 60_000;

/** A control plane with two ClusterSigners whose CAs may sign; nobody serves them now. */
export interface BenchCluster {
  readonly cluster: Cluster;
  /** The administrator's. */
  readonly client: Client;
  /** Its release. */
  readonly kubernetes: string;
  stop(): Promise<void>;
}

/**
 * The cluster that COUNTERSIGN_TEST_CLUSTER names, so that several benches can share one, or else
 * one of its own. The CAs and the bundle are made by our own authority and attester, which are
 * ended before anything is measured.
 *
 * @param own - options of a cluster that the bench does not share with others
 */
export async function startBenchCluster(
  log: (line: string) => void,
  signers: readonly object[] = [example('workload')],
  own?: ClusterOptions,
): Promise<BenchCluster> {
  if (!existsSync(BUNDLE)) throw new Error('dist/countersign.mjs is missing: run `make bench`');
  const cluster =
    own === undefined
      ? await openCluster({ ...CLUSTER, log })
      : await startCluster({ ...own, log });
  try {
    await applyManifests(cluster);
    await createTeam(cluster, NAMESPACE, ['web']);
    await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
    await makeAuthorities(cluster, signers as readonly ReturnType<typeof example>[]);
    const client = await administratorOf(cluster);
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

/** Returns the options of a bench's cluster with more flags of the API server. */
export function withApiServerFlags(...added: readonly string[]): ClusterOptions {
  const flags = [...(CLUSTER.flags?.['kube-apiserver'] ?? []), ...added];
  return { ...CLUSTER, flags: { ...CLUSTER.flags, 'kube-apiserver': flags } };
}

async function makeAuthorities(
  cluster: Cluster,
  signers: readonly ReturnType<typeof example>[],
): Promise<void> {
  const program = [process.execPath, BUNDLE];
  const installation = await startComponents(cluster, { only: ['authority', 'attester'], program });
  try {
    for (const signer of signers) await applySigner(cluster, signer);
    for (const { metadata } of signers) await waitForUsableCa(cluster, metadata.name);
    const published = signers.filter(({ spec }) => spec.trustBundle !== undefined).length;
    await until('the bundles are published and marked', READY_MS, async () => {
      const { stdout } = await cluster.kubectl(['get', 'clustertrustbundles', '-o', 'json']);
      return stdout.split('"countersign.dev/served-since"').length > published;
    });
  } finally {
    await installation.stop();
  }
}
