// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { apply } from '../support/cluster/apply.ts';
import { buildTrustManager } from './build.ts';

/** Where its Helm chart puts it, and the sources of its Bundles. */
export const TRUST_NAMESPACE = 'cert-manager';
const MODULE = 'github.com/cert-manager/trust-manager';
/** Of the chart: deploy/charts/trust-manager/templates/clusterrole.yaml and role.yaml. */
const RULES = [
  { apiGroups: ['trust.cert-manager.io'], resources: ['bundles'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['trust.cert-manager.io'], resources: ['bundles/finalizers'], verbs: ['update'] },
  { apiGroups: ['trust.cert-manager.io'], resources: ['bundles/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'list', 'create', 'patch', 'watch', 'delete'],
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** trust-manager as a process of its own, with its own ServiceAccount. */
export interface TrustManager {
  stop(): Promise<void>;
}

/** Its kinds, its ServiceAccount and what that may do. */
export async function installTrustManager(cluster: Cluster): Promise<void> {
  const program = join(import.meta.dirname, 'program');
  const env = { ...process.env, GOWORK: 'off' };
  const args = ['mod', 'download', '-json', MODULE];
  const { stdout } = await promisify(execFile)('go', args, { cwd: program, env });
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  const crd = ['-f', join(Dir, 'deploy/crds/trust.cert-manager.io_bundles.yaml')];
  await cluster.kubectl(['apply', '--server-side', ...crd]);
  await established(cluster, ...crd);
  const metadata = { name: 'trust-manager' };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata };
  const account = { kind: 'ServiceAccount', namespace: TRUST_NAMESPACE, ...metadata };
  await apply(
    cluster,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TRUST_NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...metadata, namespace: TRUST_NAMESPACE },
    },
    { ...rbac, kind: 'ClusterRole', rules: RULES },
    {
      ...rbac,
      kind: 'ClusterRoleBinding',
      subjects: [account],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...metadata },
    },
  );
}

/** Resolves once its caches are filled. */
export async function startTrustManager(cluster: Cluster): Promise<TrustManager> {
  const program = await buildTrustManager((line) => {
    console.error(line);
  });
  const kubeconfig = await cluster.serviceAccountKubeconfig(TRUST_NAMESPACE, 'trust-manager');
  const child = spawn(program, [kubeconfig, TRUST_NAMESPACE], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONTROLPLANE_OWNER_PID: String(process.pid) },
  });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await exited;
  };
  const works = once(createInterface({ input: child.stdout }), 'line');
  const ended = exited.then(() => {
    throw new Error(`trust-manager ended:\n${said.slice(-20).join('\n')}`);
  });
  ended.catch(() => undefined);
  await Promise.race([works, ended]);
  return { stop };
}
