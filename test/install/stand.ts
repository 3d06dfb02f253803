// SPDX-License-Identifier: Apache-2.0
/** A cluster, the chart, and what people do with both. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { CHART, startHelm, type Helm, type Printed, type Said } from './helm.ts';

export const RELEASE = 'countersign';
export const SYSTEM = 'countersign-system';
export const ONE = { signers: [{ name: 'example.com/workload' }] };

/** A cluster of its own, since an installation has one name in a cluster. */
export interface Stand {
  readonly cluster: Cluster;
  readonly helm: Helm;
  /** `helm upgrade --install`, which repeats what failed as well. */
  install(values: object, ...flags: readonly string[]): Promise<Said>;
  get(kind: string, name: string, namespace?: string): Promise<Printed | undefined>;
  all(kinds: string): Promise<readonly Printed[]>;
  close(): Promise<void>;
}

export async function startStand(): Promise<Stand> {
  const cluster = await startCluster({ nodes: 1 });
  const helm = await startHelm(cluster.kubeconfig);
  return {
    cluster,
    helm,
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
    close: async () => {
      helm.close();
      await cluster.stop();
    },
  };
}

/** Every kind that the chart makes. */
export const KINDS = [
  ...['namespaces', 'crds', 'serviceaccounts', 'services', 'secrets', 'configmaps', 'deployments'],
  ...['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings', 'poddisruptionbudgets'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  ...['flowschemas', 'prioritylevelconfigurations'],
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
export async function runCommands({ cluster }: Stand, commands: string): Promise<Said> {
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
