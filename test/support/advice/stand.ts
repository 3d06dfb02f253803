// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster on which things are broken and fixed again as people do it: by a shell. The pods of
 * the installation run nowhere: each component is a process that follows its Deployment, and a pod
 * is Ready because the stand says so. The pods of a team are those of a real kubelet.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCondition } from '#api/request/conditions.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createClient } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { until } from '../../cluster/until.ts';
import {
  EVERY_COMPONENT,
  startComponent,
  type ComponentProcess,
} from '../cluster/component-process.ts';
import { BUNDLE, type CommandResult } from '../cluster/countersign.ts';
import { applySigner, example } from '../cluster/fixture.ts';
import { SYSTEM_NAMESPACE, componentKubeconfig, grantClientCa } from '../cluster/installation.ts';
import { createTeam } from '../cluster/pods.ts';
import { makePodsReady } from '../cluster/ready-pods.ts';
import { openShell, type Shell } from '../cluster/shell.ts';
import { PROPAGATION } from './fault.ts';
import { NODE, TEAM } from './names.ts';
import { namingSigner } from './signers.ts';

const IMAGE = `countersign:${packageJson.version}`;
const PROGRAM = [process.execPath, BUNDLE];
const INSTALLED_MS = 240_000;

/** What each way of installing is given. */
export const VALUES = {
  signers: [
    { name: 'example.com/workload' },
    { name: 'example.com/people', bundle: '' },
    { name: 'example.com/named' },
  ],
  podServices: true,
};

export interface AdviceStand {
  readonly cluster: Cluster;
  readonly shell: Shell;
  /** Runs what a person types, and rejects with what it said where it fails. */
  type(commands: string): Promise<CommandResult>;
  /**
   * Does what kubelets and the controllers of Deployments would do by now: to be called again and
   * again while something is awaited.
   */
  follow(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the cluster. The shell's directory has `values.yaml`, and the user's own CA. */
export async function startAdviceStand(): Promise<AdviceStand> {
  const cluster = await startCluster({ nodes: 1, kubectlTimeout: INSTALLED_MS });
  const shell = openShell(cluster);
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const processes = new Processes(cluster);
  writeFileSync(join(shell.directory, 'values.yaml'), JSON.stringify(VALUES));
  copyFileSync(cluster.clientCa.certFile, join(shell.directory, 'ca.crt'));
  copyFileSync(cluster.clientCa.keyFile, join(shell.directory, 'ca.key'));
  await cluster.kubectl(['cordon', NODE]);
  return {
    cluster,
    shell,
    type: async (commands) => {
      const said = await shell.run(commands);
      if (said.code === 0) return said;
      throw new Error(`exit ${String(said.code)}: ${commands}\n${said.stdout}${said.stderr}`);
    },
    follow: async () => {
      await Promise.all([makePodsReady(client, IMAGE), processes.follow()]);
    },
    close: async () => {
      await processes.stop();
      shell.close();
      await client.close();
      await cluster.stop();
    },
  };
}

/** Makes the ClusterSigners of {@link VALUES}, and waits until all components serve them. */
export async function startServing(stand: AdviceStand): Promise<void> {
  const { cluster } = stand;
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await until('the namespace of the keys is there', INSTALLED_MS, async () => {
    await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
    return true;
  });
  await createTeam(cluster, TEAM, ['web']);
  // Where annotations are read.
  await cluster.kubectl(['label', 'namespace', TEAM, 'countersign.dev/inject=enabled']);
  const signers = [example('workload'), example('people'), namingSigner()];
  await until('the ClusterSigners are accepted', INSTALLED_MS, async () => {
    await stand.follow();
    for (const signer of signers) await applySigner(cluster, signer);
    return true;
  });
  await until('all are served', INSTALLED_MS, async () => {
    await stand.follow();
    const { items } = JSON.parse(
      (await cluster.kubectl(['get', 'clustersigners', '-o', 'json'])).stdout,
    ) as { items: readonly ClusterSigner[] };
    const reasons = items.map(
      ({ metadata, status }) =>
        `${metadata.name}: ${findCondition(status?.conditions, 'Ready')?.reason ?? 'no status'}`,
    );
    if (reasons.every((each) => each.endsWith(': Checked'))) return true;
    throw new Error(reasons.join('\n'));
  });
}

interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly image?: string }[] };
    };
  };
}

/** A process for each Deployment that has a replica, in place of its pods. */
class Processes {
  readonly #cluster: Cluster;
  readonly #running = new Map<
    string,
    { readonly pods: string; readonly process: ComponentProcess }
  >();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async follow(): Promise<void> {
    const wanted = await this.#wanted();
    await Promise.all(
      [...EVERY_COMPONENT, 'operator' as const].map(async (name) => {
        const pods = wanted.get(`countersign-${name}`);
        const running = this.#running.get(name);
        if (running?.pods === pods) return;
        this.#running.delete(name);
        await running?.process.stop();
        // Without its ServiceAccount no pod is made.
        const kubeconfig =
          pods === undefined
            ? undefined
            : await componentKubeconfig(this.#cluster, name).catch(() => undefined);
        if (pods === undefined || kubeconfig === undefined) return;
        const args = ['--propagation', PROPAGATION];
        const process = await startComponent({ name, kubeconfig, program: PROGRAM, args });
        this.#running.set(name, { pods, process });
      }),
    );
  }

  /** Name of a Deployment → what tells its pods from those of another template. */
  async #wanted(): Promise<ReadonlyMap<string, string>> {
    const args = ['get', 'deployments', '-n', SYSTEM_NAMESPACE, '-o', 'json'];
    const { items } = JSON.parse((await this.#cluster.kubectl(args)).stdout) as {
      items: readonly Deployment[];
    };
    const able = items.filter(
      ({ spec }) => (spec.replicas ?? 1) > 0 && spec.template.spec.containers[0]?.image === IMAGE,
    );
    const restart = 'kubectl.kubernetes.io/restartedAt';
    return new Map(
      able.map(({ metadata, spec }) => [
        metadata.name,
        spec.template.metadata.annotations?.[restart] ?? '',
      ]),
    );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ process }) => process.stop()));
  }
}
