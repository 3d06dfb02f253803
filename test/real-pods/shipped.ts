// SPDX-License-Identifier: Apache-2.0
/** What is shipped, installed as the README says, and its pods. */
import { join } from 'node:path';
import { VERSION } from '#app/version.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE, grantClientCa } from '../support/cluster/installation.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The image that the Deployments name, and one for workloads. */
export const COUNTERSIGN = `countersign:${VERSION}`;
export const NODE = 'node:24';
export const IN_SYSTEM = ['-n', SYSTEM_NAMESPACE] as const;

/** The part of a Pod that these tests read. */
export interface ShippedPod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly securityContext: {
      readonly seccompProfile?: { readonly type: string };
      readonly runAsUser?: number;
      readonly fsGroup?: number;
    };
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly resources: { readonly limits?: { readonly memory?: string } };
      readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
    }[];
  };
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly state: { readonly terminated?: { readonly exitCode: number } };
    }[];
  };
}

export const componentOf = ({ metadata }: ShippedPod): string =>
  metadata.labels['app.kubernetes.io/component'] ?? '';

export function isReady({ metadata, status }: ShippedPod): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return metadata.deletionTimestamp === undefined && ready?.status === 'True';
}

/** Of all components, or of one. */
export async function podsOf(cluster: Cluster, component?: string): Promise<readonly ShippedPod[]> {
  const own = component === undefined ? '' : `,app.kubernetes.io/component=${component}`;
  const selector = `app.kubernetes.io/name=countersign${own}`;
  const { stdout } = await cluster.kubectl([
    'get',
    'pods',
    ...IN_SYSTEM,
    '-l',
    selector,
    '-o',
    'json',
  ]);
  return (JSON.parse(stdout) as { items: readonly ShippedPod[] }).items;
}

/** `kubectl apply -k .`, until every Deployment has all of its pods Ready. */
export async function installShipped(cluster: Cluster): Promise<void> {
  // The definition of ClusterSigner is a moment later than its first mention.
  await until('everything is applied', 30_000, () => cluster.kubectl(['apply', '-k', ROOT]));
  await rolledOut(cluster);
}

/** Resolves when every Deployment is rolled out, and what it replaced is gone. */
export async function rolledOut(cluster: Cluster): Promise<void> {
  await until('every Deployment is rolled out', 180_000, async () => {
    const pods = await podsOf(cluster);
    return EVERY_COMPONENT.every((name) => {
      const own = pods.filter((pod) => componentOf(pod) === name);
      return own.length === 2 && own.every(isReady);
    });
  });
}

/**
 * The ClusterSigners of deploy/examples, Ready: workload, people (by the cluster's own CA) and
 * serving.
 */
export async function createSigners(
  cluster: Cluster,
  names: readonly string[] = ['workload', 'people', 'serving'],
): Promise<void> {
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  const files = names.flatMap((name) => ['-f', join(ROOT, 'deploy/examples', `${name}.yaml`)]);
  await cluster.kubectl(['apply', ...files]);
  const ready = ['wait', '--for=condition=Ready', '--timeout=50s', 'clustersigners', '--all'];
  await cluster.kubectl(ready);
}
