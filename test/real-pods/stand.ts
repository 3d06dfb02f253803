// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { until } from '../cluster/until.ts';
import { mapImages } from '../image/mapped.ts';
import { COUNTERSIGN, NODE } from './shipped.ts';

/** `skip` of tests that need pods that run: false, or why they are skipped here. */
export const SKIP: string | false = (await whyNoRealPods()) ?? false;

/** A drain waits for budgets. */
const KUBECTL_MS = 240_000;

/** A cluster of real pods with the image of this checkout. */
export interface Stand {
  readonly cluster: Cluster;
  remove(): Promise<void>;
}

export async function openStand({
  versions = [],
  ...options
}: {
  nodes?: number;
  /** More tags of the same image, for upgrades. */
  versions?: readonly string[];
} = {}): Promise<Stand> {
  const directory = makeDirectory();
  try {
    const { countersign, node } = await mapImages(join(directory, 'image'));
    const next = versions.map((each) => [`countersign:${each}`, countersign] as const);
    const images = { [COUNTERSIGN]: countersign, [NODE]: node, ...Object.fromEntries(next) };
    const cluster = await startCluster({
      realPods: true,
      images,
      kubectlTimeout: KUBECTL_MS,
      ...options,
    });
    const remove = async (): Promise<void> => {
      await cluster.stop();
      removeDirectory(directory);
    };
    return { cluster, remove };
  } catch (error) {
    removeDirectory(directory);
    throw error;
  }
}

/** The part of a Pod's status that these tests read. */
export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly hostIP?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly restartCount: number;
    readonly state: {
      readonly terminated?: { readonly exitCode: number };
      readonly waiting?: { readonly reason: string; readonly message?: string };
    };
  }[];
}

export async function statusOf(cluster: Cluster, pod: string): Promise<PodStatus> {
  const { stdout } = await cluster.kubectl(['get', 'pod', pod, '-o', 'json']);
  return (JSON.parse(stdout) as { status: PodStatus }).status;
}

/** Resolves with the status of a pod that is Ready. */
export function untilReady(cluster: Cluster, pod: string): Promise<PodStatus> {
  return until(`${pod} is Ready`, 60_000, async () => {
    const status = await statusOf(cluster, pod);
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'True' && status;
  });
}

/** A pod of one container that runs a script in Node, and is not started again when it ends. */
export function nodePod(
  name: string,
  script: string,
  container: object = {},
  spec: object = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 },
      containers: [{ name: 'main', image: NODE, args: ['-e', script], ...container }],
      ...spec,
    },
  };
}

export function create(cluster: Cluster, ...objects: readonly object[]): Promise<unknown> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  return cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(list) });
}
