// SPDX-License-Identifier: Apache-2.0
/** A cluster, the chart, and what people do with both. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import packageJson from '../../package.json' with { type: 'json' };
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import type { PodImages } from '../cluster/real-pods/types.ts';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { mapImages } from '../image/mapped.ts';
import { startComponents } from '../support/cluster/installation.ts';
import { CHART, startHelm, type Helm, type Printed, type Said } from './helm.ts';

export const RELEASE = 'countersign';
export const SYSTEM = 'countersign-system';
const { version } = packageJson;
/** A rollout waits for new pods. */
const KUBECTL_MS = 240_000;
export const ONE = { signers: [{ name: 'example.com/workload' }] };

/** A cluster of its own, since an installation has one name in a cluster. */
export interface Stand {
  readonly cluster: Cluster;
  /**
   * Whether pods run; where they cannot, the components are processes under the same
   * ServiceAccounts.
   */
  readonly realPods: boolean;
  readonly helm: Helm;
  /** `helm upgrade --install`, which repeats what failed as well. */
  install(values: object, ...flags: readonly string[]): Promise<Said>;
  get(kind: string, name: string, namespace?: string): Promise<Printed | undefined>;
  all(kinds: string): Promise<readonly Printed[]>;
  /** Resolves when the components of a release work: its pods, or processes in their place. */
  components(): Promise<{ stop(): Promise<void> }>;
  /** Resolves when no pod of an earlier release is left; faked pods are not waited for. */
  rolledOut(): Promise<void>;
  close(): Promise<void>;
}

/** The next version of the same image, for upgrades. */
export const NEXT_TAG = '0.1.1';

/** @param realPods - false: the kubelets' containers are faked, where nothing of ours has to run */
export async function startStand({ realPods = true } = {}): Promise<Stand> {
  const pods = realPods && (await whyNoRealPods()) === undefined;
  const opened = pods ? await openRealStand() : await openFakedStand();
  const { cluster } = opened;
  const helm = await startHelm(cluster.kubeconfig);
  return {
    cluster,
    helm,
    realPods: pods,
    install: (values, ...flags) => helm(['upgrade', '--install', RELEASE, CHART, ...flags], values),
    get: async (kind, name, namespace = SYSTEM) => {
      const args = ['get', kind, name, '-n', namespace, '-o', 'json'];
      const { code, stdout } = await cluster.kubectl(args, { allowFailure: true });
      return code === 0 ? (JSON.parse(stdout) as Printed) : undefined;
    },
    all: async (kinds) => {
      const labels = ['-l', 'app.kubernetes.io/name=countersign'];
      const args = ['get', kinds, '-A', ...labels, '-o', 'json'];
      return (JSON.parse((await cluster.kubectl(args)).stdout) as { items: Printed[] }).items;
    },
    components: async () => {
      if (!pods) return startComponents(cluster);
      await available(cluster);
      return { stop: () => Promise.resolve() };
    },
    rolledOut: () => (pods ? rolledOut(cluster) : Promise.resolve()),
    close: async () => {
      helm.close();
      await opened.remove();
    },
  };
}

/** Resolves when each Deployment has the pods that it wants. Old pods may still be ending. */
async function available(cluster: Cluster): Promise<void> {
  const args = ['rollout', 'status', 'deployment', '-n', SYSTEM, '--timeout=200s'];
  await cluster.kubectl([...args, '-l', 'app.kubernetes.io/name=countersign']);
}

interface Rollout {
  readonly metadata: { readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly terminatingReplicas?: number;
  };
}

/** Resolves when no pod of an earlier release is left, not even one that is ending. */
async function rolledOut(cluster: Cluster): Promise<void> {
  await available(cluster);
  const args = ['get', 'deployments', '-n', SYSTEM, '-o', 'json'];
  await until('no pod of an earlier release is left', KUBECTL_MS, async () => {
    const { items } = JSON.parse((await cluster.kubectl(args)).stdout) as { items: Rollout[] };
    return items.every(({ metadata, status = {} }) => {
      const { replicas = 0, updatedReplicas = 0, terminatingReplicas = 0 } = status;
      const seen = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      return seen && replicas <= updatedReplicas && terminatingReplicas === 0;
    });
  });
}

interface Opened {
  readonly cluster: Cluster;
  remove(): Promise<void>;
}

async function openRealStand(): Promise<Opened> {
  const directory = makeDirectory();
  const { countersign, node } = await mapImages(join(directory, 'image'));
  const idle = ['-e', 'setInterval(() => undefined, 1e6)'];
  const images: PodImages = {
    [`countersign:${version}`]: countersign,
    [`countersign:${NEXT_TAG}`]: countersign,
    'registry.k8s.io/pause:3.10': { ...node, entrypoint: [...(node.entrypoint ?? []), ...idle] },
  };
  const cluster = await startCluster({
    realPods: true,
    images,
    kubectlTimeout: KUBECTL_MS,
    nodes: 1,
  });
  const remove = async (): Promise<void> => {
    await cluster.stop();
    removeDirectory(directory);
  };
  return { cluster, remove };
}

async function openFakedStand(): Promise<Opened> {
  const cluster = await startCluster({ nodes: 1 });
  return { cluster, remove: () => cluster.stop() };
}

/** Every kind that the chart makes. */
export const KINDS = [
  'namespaces',
  'crds',
  'serviceaccounts',
  'services',
  'secrets',
  'configmaps',
  'deployments',
  'clusterroles',
  'clusterrolebindings',
  'roles',
  'rolebindings',
  'poddisruptionbudgets',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'flowschemas',
  'prioritylevelconfigurations',
].join(',');

/** The signer names that a component may approve or sign for. */
export async function namesOf(stand: Stand, component: string): Promise<readonly string[]> {
  const role = await stand.get('clusterrole', `countersign-${component}`);
  const rules = role?.['rules'] as readonly Readonly<Record<string, readonly string[]>>[];
  return rules
    .filter(({ resources }) => resources?.includes('signers') === true)
    .flatMap(({ resourceNames = [] }) => resourceNames);
}

/** The commands of the notes, run by a shell that knows this cluster's kubectl. */
export async function runCommands(
  { cluster }: Pick<Stand, 'cluster'>,
  commands: string,
): Promise<Said> {
  // The room of a cluster has an executable kubectl that knows no other.
  const PATH = `${dirname(join(cluster.directory, 'kubectl'))}:${process.env['PATH'] ?? ''}`;
  const shell = spawn('bash', ['-e', '-c', commands], {
    env: { PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close'),
  ]);
  return { code: shell.exitCode ?? -1, stdout, stderr };
}
