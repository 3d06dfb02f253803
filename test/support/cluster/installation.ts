// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import {
  COMPONENTS,
  startComponent,
  type ComponentName,
  type ComponentOptions,
  type ComponentProcess,
  type OptionalComponentName,
} from './component-process.ts';
import { KEYS_NAMESPACE, caSecretManifest } from '../ca/ca-secret.ts';
import { applyText } from './apply.ts';

export { KEYS_NAMESPACE };

const ROOT = join(import.meta.dirname, '../../..');

/** Where the components live, and where the keys do. */
export const SYSTEM_NAMESPACE = 'countersign-system';

/** Countersign at work in a cluster. */
export interface Installation {
  readonly components: Readonly<Record<ComponentName, ComponentProcess>>;
  /** Ends all components with SIGTERM. */
  stop(): Promise<void>;
}

/** All but the opt-in who-may-request. */
const ADMISSION = [
  'pod-certificate-requests',
  'cluster-signers',
  'leases',
  'certificate-requests',
  'components',
  'acme',
  'external',
  'refreshed',
  'revocations',
] as const;

/**
 * Applies the shipped CRD, namespaces, roles, policies and flow control: exactly the shipped files.
 */
export async function applyManifests(cluster: Cluster): Promise<void> {
  const file = (path: string): string => join(ROOT, path);
  await cluster.kubectl(['apply', '-f', file('deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '-f', file('deploy/crds')]);
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await cluster.kubectl(['apply', '-f', file('rbac')]);
  for (const policies of ADMISSION) {
    await cluster.kubectl(['apply', '-f', file(`deploy/admission/${policies}.yaml`)]);
  }
  await cluster.kubectl(['apply', '-f', file('deploy/flow-control')]);
  await cluster.kubectl(['apply', '-f', file('deploy/own-tls.yaml')]);
}

/** The path of a kubeconfig with a bound token of the component's own ServiceAccount. */
export function componentKubeconfig(
  cluster: Cluster,
  name: ComponentName | OptionalComponentName,
): Promise<string> {
  return cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, `countersign-${name}`);
}

/** Starts components, each as its own ServiceAccount with a bound token. */
export async function startComponents(
  cluster: Cluster,
  options: Omit<ComponentOptions, 'name' | 'kubeconfig'> & {
    readonly only?: readonly ComponentName[];
    /** Arguments of one component alone. */
    readonly argsOf?: Partial<Record<ComponentName, readonly string[]>>;
  } = {},
): Promise<Installation> {
  const started: ComponentProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((each) => each.stop()));
  };
  try {
    // All are awaited: who starts late is to be ended, too.
    const starting = await Promise.allSettled(
      (options.only ?? COMPONENTS).map(async (name) => {
        const kubeconfig = await componentKubeconfig(cluster, name);
        const args = [...(options.args ?? []), ...(options.argsOf?.[name] ?? [])];
        started.push(await startComponent({ ...options, args, name, kubeconfig }));
      }),
    );
    const failed = starting.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  const components = Object.fromEntries(started.map((each) => [each.name, each]));
  return { components: components as Installation['components'], stop };
}

/**
 * The cluster's client CA, or another, as the user's own CA, with its owner's consent to one
 * signer.
 */
export async function grantClientCa(
  cluster: Cluster,
  { name, signerName }: { readonly name: string; readonly signerName: string },
  { certFile, keyFile }: Cluster['clientCa'] = cluster.clientCa,
): Promise<void> {
  const certificate = readFileSync(certFile, 'utf8');
  const key = readFileSync(keyFile, 'utf8');
  const input = caSecretManifest(name, { certificate, key }, signerName);
  await applyText(cluster, input);
}
