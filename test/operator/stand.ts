// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster with the operator's own manifests. It has no nodes: a pod is Ready because the stand
 * says so, in place of a kubelet. What is tested is what the operator writes; test/real-pods has
 * pods that run.
 */
import { join } from 'node:path';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Countersign } from '#api/operator/countersign.ts';
import { isRefusal } from '#install/reconcile/desired.ts';
import { desiredInstallation } from '#install/operator/desired.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { createWriter, type ObjectWriter } from '#kube/apply/writer.ts';
import { apply } from '../support/cluster/apply.ts';
import { auditedWrites } from '../support/cluster/audit.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { makePodsReady } from '../support/cluster/ready-pods.ts';

const ROOT = join(import.meta.dirname, '../..');
export const SYSTEM = 'countersign-system';
export const USER = `system:serviceaccount:${SYSTEM}:countersign-operator`;
export const WAIT_MS = 60_000;

/** As deploy/operator has it. */
export const RELEASE = {
  namespace: SYSTEM,
  keysNamespace: 'countersign-keys',
  image: 'countersign',
  allowedImages: [],
  dangerZone: false,
  version: '0.1.0',
};

export const EXAMPLE_FILE = join(ROOT, 'deploy/operator/countersign.yaml');
export const EXAMPLE = parse(readFileSync(EXAMPLE_FILE, 'utf8')) as Countersign;

/** With the operator's flag --allow-danger-zone. */
const ALLOWED = { ...RELEASE, dangerZone: true };

/** What the operator makes of a spec. */
export function desiredOf(spec: Countersign['spec']): readonly ManagedObject[] {
  const desired = desiredInstallation(spec, ALLOWED);
  if (isRefusal(desired)) throw new Error(desired.message);
  return desired.objects;
}

/** What the operator makes of {@link EXAMPLE}. */
export const DESIRED = desiredOf(EXAMPLE.spec);

export interface Stand {
  readonly cluster: Cluster;
  /** The administrator's. */
  readonly client: Client;
  readonly admin: ObjectWriter;
  /** Applies what an administrator applies: the definition, and deploy/operator/operator.yaml. */
  installOperator(): Promise<void>;
  /** Starts the operator under its own ServiceAccount. */
  start(...flags: readonly string[]): Promise<ComponentProcess>;
  /** Applies the operator's roles for a spec. */
  grant(spec: Countersign['spec']): Promise<void>;
  /** Applies the Countersign with this spec. */
  install(spec?: Countersign['spec']): Promise<void>;
  countersign(): Promise<Countersign | undefined>;
  /** Waits for a condition of the present generation, while pods become Ready. */
  condition(type: string, status: string, reason?: string): Promise<string>;
  /**
   * Successful writes of the operator: `verb resource name`, without its Lease, Events and reviews.
   */
  writes(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** @param isInstalled - whether the operator's own manifests are applied at once */
export async function startStand({ isInstalled = true } = {}): Promise<Stand> {
  const cluster = await startCluster({ nodes: 0 });
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const processes: ComponentProcess[] = [];
  const countersign = async (): Promise<Countersign | undefined> => {
    const args = ['get', 'countersigns', 'cluster', '-o', 'json'];
    const { code, stdout } = await cluster.kubectl(args, { allowFailure: true });
    return code === 0 ? (JSON.parse(stdout) as Countersign) : undefined;
  };
  const installOperator = async (): Promise<void> => {
    await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
    await established(cluster, 'crd/countersigns.operator.countersign.dev');
    await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/operator/operator.yaml')]);
  };
  if (isInstalled) await installOperator();
  return {
    cluster,
    client,
    admin: createWriter(client, 'somebody-else'),
    countersign,
    installOperator,
    start: async (...args) => {
      const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, 'countersign-operator');
      const started = await startComponent({ name: 'operator', kubeconfig, args });
      processes.push(started);
      return started;
    },
    grant: (spec) =>
      apply(
        cluster,
        ...operatorManifests(spec, ALLOWED).filter(({ kind }) => kind !== 'Deployment'),
      ),
    install: (spec = EXAMPLE.spec) => apply(cluster, { ...EXAMPLE, spec }),
    condition: (type, status, reason) =>
      until(`${type} is ${status} ${reason ?? ''}`, WAIT_MS, async () => {
        await makePodsReady(client);
        const object = await countersign();
        const found = object?.status?.conditions?.find((each) => each.type === type);
        const fits = found?.status === status && (reason === undefined || found.reason === reason);
        if (fits && found.observedGeneration === object?.metadata.generation)
          return found.message ?? '';
        throw new Error(JSON.stringify(object?.status?.conditions ?? 'no status'));
      }),
    writes: () => auditedWrites(cluster, USER),
    close: async () => {
      await Promise.all(processes.map((each) => each.kill()));
      await client.close();
      await cluster.stop();
    },
  };
}
