// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from './apply.ts';

export interface PodWanted {
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount: string;
  readonly node: string;
  readonly signerName: string;
  readonly keyType: string;
  readonly maxExpirationSeconds?: number;
  readonly userAnnotations?: Readonly<Record<string, string>>;
  /** Default true: mounts the signer's bundle as well. */
  readonly trustBundle?: boolean;
}

/** Creates a pod whose kubelet asks for a credential; the scheduler picks the wanted node. */
export async function createPod(cluster: Cluster, wanted: PodWanted): Promise<void> {
  await apply(cluster, podObject(wanted));
}

/** Such a pod. */
export function podObject(wanted: PodWanted): object {
  const sources: object[] = [
    {
      podCertificate: {
        signerName: wanted.signerName,
        keyType: wanted.keyType,
        credentialBundlePath: 'credentials.pem',
        ...(wanted.maxExpirationSeconds === undefined
          ? {}
          : { maxExpirationSeconds: wanted.maxExpirationSeconds }),
        ...(wanted.userAnnotations === undefined
          ? {}
          : { userAnnotations: wanted.userAnnotations }),
      },
    },
  ];
  if (wanted.trustBundle !== false) {
    sources.push({
      clusterTrustBundle: {
        signerName: wanted.signerName,
        labelSelector: {},
        path: 'trust-bundle.pem',
      },
    });
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: wanted.namespace, name: wanted.name },
    spec: {
      serviceAccountName: wanted.serviceAccount,
      automountServiceAccountToken: false,
      nodeSelector: { 'kubernetes.io/hostname': wanted.node },
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          volumeMounts: [{ name: 'identity', mountPath: '/run/identity' }],
        },
      ],
      volumes: [{ name: 'identity', projected: { sources } }],
    },
  };
}

/** Makes a namespace and ServiceAccounts in it. */
export async function createTeam(
  cluster: Cluster,
  namespace: string,
  serviceAccounts: readonly string[],
): Promise<void> {
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...serviceAccounts.map((name) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name },
    })),
  ];
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await apply(cluster, list);
}

/** A kubelet's mount retries back off to several seconds. */
const POD_MS = 120_000;

/** The files that the pod's kubelet wrote, once the pod runs. */
export async function filesOf(
  cluster: Cluster,
  { namespace, name }: Pick<PodWanted, 'namespace' | 'name'>,
): Promise<{ readonly credentials: string; readonly trust: string; readonly node: string }> {
  const pod = await until(`pod ${namespace}/${name} runs`, POD_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', 'pod', name, '-n', namespace, '-o', 'json']);
    const found = JSON.parse(stdout) as {
      metadata: { uid: string };
      spec: { nodeName?: string };
      status: { phase?: string };
    };
    return found.status.phase === 'Running' ? found : undefined;
  });
  const node = cluster.nodes.find((each) => each.name === pod.spec.nodeName);
  const volume = join(
    node?.rootDirectory ?? '',
    'pods',
    pod.metadata.uid,
    'volumes/kubernetes.io~projected/identity',
  );
  const files = {
    credentials: join(volume, 'credentials.pem'),
    trust: join(volume, 'trust-bundle.pem'),
    node: pod.spec.nodeName ?? '',
  };
  await until('the credential bundle is there', POD_MS, () => existsSync(files.credentials));
  return files;
}
