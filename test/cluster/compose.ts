// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import * as components from './components.ts';
import { writeCertificateKubeconfig } from './kubeconfig.ts';
import { writeKubectl } from './kubectl.ts';
import { freePort } from './ports.ts';
import { DEFAULT_FAMILIES, addressPlan } from './real-pods/addresses.ts';
import { buildPodHost } from './real-pods/build.ts';
import { PodHostPlan } from './real-pods/plan.ts';
import type { Version } from './releases.ts';
import type { ClusterState } from './state.ts';
import type { ClusterOptions } from './types.ts';

export const defaultKubectlTimeout = 60_000;

interface Frame {
  readonly version: Version;
  readonly directory: string;
  readonly binaries: Binaries;
}

/** Writes everything that a cluster needs into its directory; nothing runs yet. */
export async function composeCluster(options: ClusterOptions & Frame): Promise<ClusterState> {
  const { directory, binaries, version } = options;
  const nodes = Array.from({ length: options.nodes ?? 2 }, (_, index) => `node-${index + 1}`);
  await writePki(binaries, directory, nodes);
  const server = `https://127.0.0.1:${await freePort()}`;
  const plan = options.realPods === true ? await planPodHost(options, nodes) : undefined;
  const around: components.Surroundings = {
    version,
    directory,
    server,
    binaries,
    audit: options.audit ?? true,
    flags: options.flags ?? {},
    ...(plan === undefined ? {} : { podHost: plan }),
  };
  const kubeconfig = writeCertificateKubeconfig(directory, 'admin', server);
  const etcd = await components.etcd(around);
  const [program] = binaries('pki');
  const parts = {
    etcd,
    apiServer: components.apiServer(around, etcd),
    controllerManager: components.controllerManager(around),
    scheduler: components.scheduler(around),
    nodes: await Promise.all(nodes.map((node) => components.kubelet(around, node))),
  };
  const others = [etcd, parts.apiServer, ...parts.nodes];
  return {
    version,
    server,
    directory,
    kubeconfig,
    kubectl: writeKubectl(directory, binaries('kubectl'), kubeconfig),
    kubectlTimeout: options.kubectlTimeout ?? defaultKubectlTimeout,
    tools: [program],
    components:
      plan === undefined
        ? parts
        : {
            ...parts,
            podHost: await components.podHost(plan, around, others, options),
          },
    ...(plan === undefined ? {} : { podHost: plan.state }),
  };
}

async function planPodHost(
  { directory, log, ipFamilies }: ClusterOptions & Frame,
  nodes: readonly string[],
): Promise<PodHostPlan> {
  const program = await buildPodHost(log ?? ((): void => undefined));
  const addresses = addressPlan(ipFamilies ?? DEFAULT_FAMILIES);
  return new PodHostPlan(program, directory, { nodes, addresses });
}

async function writePki(
  binaries: Binaries,
  directory: string,
  nodes: readonly string[],
): Promise<void> {
  const [command, ...first] = binaries('pki');
  const identities = nodes.map((node) => `--node=${node}`);
  await promisify(execFile)(command, [
    ...first,
    `--directory=${join(directory, 'pki')}`,
    ...identities,
  ]);
}
