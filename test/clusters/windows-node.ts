// SPDX-License-Identifier: Apache-2.0
/**
 * A node of another system, as a cluster with Windows workloads has it: Ready, with more room than
 * any other, and without a kubelet. A pod that is bound to it never starts.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { NODE, type ShippedPod } from '../real-pods/shipped.ts';
import { create } from '../real-pods/stand.ts';

const NAME = 'windows-1';
const WAIT_MS = 60_000;
/** kube-controller-manager waits 50 s for it (--node-monitor-grace-period). */
const HEARTBEAT_MS = 5_000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const ROOM = { cpu: '64', memory: '512Gi', 'ephemeral-storage': '512Gi', pods: '110' };

const WINDOWS = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: NAME,
    labels: { 'kubernetes.io/os': 'windows', 'kubernetes.io/hostname': NAME },
  },
};

/** Adds the node, and keeps it Ready until it is stopped. */
export async function startWindowsNode(cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const client = createClient({
    connection,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'countersign-test-windows-node',
  });
  await client.request({ method: 'POST', path: '/api/v1/nodes', body: WINDOWS });
  await client.request({ method: 'POST', path: LEASES, body: lease() });
  await renew(client);
  const stopped = new AbortController();
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await delay(HEARTBEAT_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      await renew(client).catch(() => undefined);
    }
  })();
  const stop = async (): Promise<void> => {
    stopped.abort();
    await running;
    await client.close();
  };
  try {
    await attractsPods(cluster);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/** What a kubelet renews (`Lease` and `Node.status`, concepts/architecture/nodes#heartbeats). */
async function renew(client: Client): Promise<void> {
  const contentType = 'application/merge-patch+json';
  const now = new Date().toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
  await client.request({
    method: 'PATCH',
    path: `/api/v1/nodes/${NAME}/status`,
    contentType,
    body: {
      status: {
        capacity: ROOM,
        allocatable: ROOM,
        conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }],
      },
    },
  });
  const path = `${LEASES}/${NAME}`;
  await client.request({ method: 'PATCH', path, contentType, body: lease() });
}

function lease(): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: NAME },
    spec: {
      holderIdentity: NAME,
      leaseDurationSeconds: 40,
      // MicroTime.
      renewTime: new Date().toISOString().replace(/Z$/, '000Z'),
    },
  };
}

/** Asserts that the scheduler prefers this node for a pod that names no system. */
async function attractsPods(cluster: Cluster): Promise<void> {
  await until('the node has no taint of a node that is not Ready', WAIT_MS, async () => {
    const path = 'jsonpath={.spec.taints}';
    return (await cluster.kubectl(['get', 'node', NAME, '-o', path])).stdout === '';
  });
  const name = 'names-no-system';
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: NODE }] },
  });
  const args = ['get', 'pod', name, '-o', 'jsonpath={.spec.nodeName}'];
  const node = await until('a pod without a nodeSelector is scheduled', WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl(args);
    return stdout !== '' && stdout;
  });
  assert.equal(node, NAME);
  await cluster.kubectl(['delete', 'pod', name, '--force', '--grace-period=0']);
}

/** Returns an error if the scheduler chose this node for a pod. */
export function faultOfNodes(pods: readonly ShippedPod[]): string | undefined {
  const there = pods.filter(({ spec }) => spec.nodeName === NAME);
  if (there.length === 0) return undefined;
  return `on a node of Windows: ${there.map(({ metadata }) => metadata.name).join(', ')}`;
}
