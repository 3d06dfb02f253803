// SPDX-License-Identifier: Apache-2.0
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { auditFlags } from './audit.ts';
import type { Binaries } from './binaries.ts';
import type { ComponentSpec } from './component.ts';
import { writeCertificateKubeconfig } from './kubeconfig.ts';
import { freePort } from './ports.ts';
import type { HostContents, PodHostPlan } from './real-pods/plan.ts';
import { releaseOf, type Version } from './releases.ts';

export type ComponentName =
  'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet';

/** What a component is composed from. */
export interface Surroundings {
  readonly version: Version;
  readonly directory: string;
  readonly server: string;
  readonly binaries: Binaries;
  readonly audit: boolean;
  readonly flags: Partial<Record<ComponentName, readonly string[]>>;
  /** Absent: containers are faked, and all is on the caller's own loopback. */
  readonly podHost?: PodHostPlan;
}

interface Composition {
  readonly name: string;
  readonly component: ComponentName;
  readonly args: readonly string[];
  readonly readyUrl?: string;
}

function compose(around: Surroundings, composition: Composition): ComponentSpec {
  const { name, component, args, readyUrl } = composition;
  const own = around.binaries(component);
  const plan = around.podHost;
  const within = component === 'kubelet' ? plan?.withMounts(own) : plan?.within(own);
  const [command, ...first] = within ?? own;
  return {
    ...surrounded(around.directory, name),
    command,
    args: [...first, ...args, ...(around.flags[component] ?? [])],
    ...(readyUrl === undefined ? {} : { readyUrl }),
  };
}

function surrounded(
  directory: string,
  name: string,
): Pick<ComponentSpec, 'name' | 'env' | 'logFile' | 'pidFile'> {
  return {
    name,
    env: { CONTROLPLANE_OWNER_PID: String(process.pid) },
    logFile: join(directory, `${name}.log`),
    pidFile: join(directory, `${name}.pid`),
  };
}

/** The host that all of `others` are on; these ports, and its own, lead into its network. */
export async function podHost(
  plan: PodHostPlan,
  around: Surroundings,
  others: readonly ComponentSpec[],
  { hostPorts = [], ...contents }: HostContents & { readonly hostPorts?: readonly number[] },
): Promise<ComponentSpec> {
  const health = await freePort();
  const urls = others.flatMap(({ readyUrl }) => (readyUrl === undefined ? [] : [readyUrl]));
  const ports = [...urls.map((url) => Number(new URL(url).port)), health, ...hostPorts];
  const admin = join(around.directory, 'admin.kubeconfig');
  const [command, ...args] = plan.compose(admin, contents, ports, health);
  const readyUrl = `http://127.0.0.1:${health}/`;
  return { ...surrounded(around.directory, 'podhost'), command, args, readyUrl };
}

export async function etcd(around: Surroundings): Promise<ComponentSpec> {
  const clients = `http://127.0.0.1:${await freePort()}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const args = [
    '--name=etcd',
    `--data-dir=${join(around.directory, 'etcd')}`,
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=etcd=${peers}`,
    '--log-level=warn',
    // Survives a killed process, though not a lost machine; and a test's disk is not what we
    // measure.
    '--unsafe-no-fsync',
  ];
  return compose(around, { name: 'etcd', component: 'etcd', args, readyUrl: `${clients}/health` });
}

export function apiServer(around: Surroundings, etcdSpec: ComponentSpec): ComponentSpec {
  const { directory, server, version } = around;
  const pki = (file: string): string => join(directory, 'pki', file);
  const { runtimeConfig } = releaseOf(version);
  const args = [
    `--etcd-servers=${new URL(etcdSpec.readyUrl ?? '').origin}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${new URL(server).port}`,
    '--endpoint-reconciler-type=none',
    `--cert-dir=${join(directory, 'pki')}`,
    `--tls-cert-file=${pki('apiserver.crt')}`,
    `--tls-private-key-file=${pki('apiserver.key')}`,
    `--client-ca-file=${pki('client-ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${pki('service-accounts.pub')}`,
    `--service-account-signing-key-file=${pki('service-accounts.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    ...(around.audit ? auditFlags(directory) : []),
    ...gates(version),
    ...(runtimeConfig === '' ? [] : [`--runtime-config=${runtimeConfig}`]),
    ...(around.podHost?.apiServerFlags(join(directory, 'pki')) ?? []),
  ];
  return compose(around, {
    name: 'kube-apiserver',
    component: 'kube-apiserver',
    args,
    readyUrl: `${server}/readyz`,
  });
}

export function controllerManager(around: Surroundings): ComponentSpec {
  const { directory, version } = around;
  const name = 'kube-controller-manager';
  const pki = (file: string): string => join(directory, 'pki', file);
  const args = [
    ...client(around, name),
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${pki('service-accounts.key')}`,
    `--root-ca-file=${pki('server-ca.crt')}`,
    `--cluster-signing-cert-file=${pki('client-ca.crt')}`,
    `--cluster-signing-key-file=${pki('client-ca.key')}`,
    // Its default lies outside of our directory, and is created when absent.
    `--flex-volume-plugin-dir=${join(directory, 'volume-plugins')}`,
    ...gates(version),
  ];
  return compose(around, { name, component: name, args });
}

export function scheduler(around: Surroundings): ComponentSpec {
  const name = 'kube-scheduler';
  const args = [...client(around, name), ...gates(around.version)];
  return compose(around, { name, component: name, args });
}

export async function kubelet(around: Surroundings, name: string): Promise<ComponentSpec> {
  const port = await freePort();
  const rootDirectory = rootDirectoryOf(around.directory, name);
  mkdirSync(rootDirectory, { recursive: true });
  const args = [
    `--name=${name}`,
    `--kubeconfig=${writeCertificateKubeconfig(around.directory, name, around.server)}`,
    `--root-dir=${rootDirectory}`,
    `--port=${port}`,
    ...gates(around.version),
    ...(around.podHost?.kubeletFlags(name, join(around.directory, 'pki')) ?? []),
  ];
  const scheme = around.podHost === undefined ? 'http' : 'https';
  const readyUrl = `${scheme}://127.0.0.1:${port}/healthz`;
  return compose(around, { name, component: 'kubelet', args, readyUrl });
}

export function rootDirectoryOf(directory: string, node: string): string {
  return join(directory, 'nodes', node);
}

/** The flags that kube-controller-manager and kube-scheduler share. */
function client(around: Surroundings, identity: string): string[] {
  return [
    `--kubeconfig=${writeCertificateKubeconfig(around.directory, identity, around.server)}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
}

function gates(version: Version): string[] {
  const { featureGates } = releaseOf(version);
  return featureGates === '' ? [] : [`--feature-gates=${featureGates}`];
}
