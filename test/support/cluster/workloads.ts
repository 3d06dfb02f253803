// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from './apply.ts';

export interface WorkloadWanted {
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount: string;
  readonly signerName: string;
  readonly replicas: number;
  /** Of its PodDisruptionBudget. */
  readonly minAvailable: number;
}

const STARTED_MS = 120_000;

/** A Deployment whose pods mount a credential, with a PodDisruptionBudget over them. */
export async function applyWorkload(cluster: Cluster, wanted: WorkloadWanted): Promise<void> {
  const { namespace, name, serviceAccount, signerName, replicas } = wanted;
  const labels = { app: name };
  const identity = {
    podCertificate: { signerName, keyType: 'ED25519', credentialBundlePath: 'credentials.pem' },
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: serviceAccount,
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'main',
              image: 'registry.k8s.io/pause:3.10',
              volumeMounts: [{ name: 'identity', mountPath: '/run/identity' }],
            },
          ],
          volumes: [{ name: 'identity', projected: { sources: [identity] } }],
        },
      },
    },
  };
  await apply(cluster, deployment);
  await applyBudget(cluster, wanted);
}

export async function applyBudget(
  cluster: Cluster,
  { namespace, name, minAvailable }: Pick<WorkloadWanted, 'namespace' | 'name' | 'minAvailable'>,
): Promise<void> {
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace, name },
    spec: { minAvailable, selector: { matchLabels: { app: name } } },
  };
  await apply(cluster, budget);
}

/** The Deployment's pods, once so many of them are ready. */
export function readyPods(
  cluster: Cluster,
  { namespace, name, replicas }: Pick<WorkloadWanted, 'namespace' | 'name' | 'replicas'>,
): Promise<readonly Pod[]> {
  return until(`${replicas} pods of ${namespace}/${name} are ready`, STARTED_MS, async () => {
    const selector = ['-n', namespace, '-l', `app=${name}`, '-o', 'json'];
    const { stdout } = await cluster.kubectl(['get', 'pods', ...selector]);
    const { items } = JSON.parse(stdout) as { items: readonly PodWithConditions[] };
    const ready = items.filter(isReady);
    return ready.length === replicas && ready.length === items.length ? ready : undefined;
  });
}

interface PodWithConditions extends Pod {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { type: string; status: string }[];
  };
}

function isReady({ status }: PodWithConditions): boolean {
  return (
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true
  );
}
