// SPDX-License-Identifier: Apache-2.0
/**
 * A default StorageClass, as clouds have it: a volume for each claim, which goes with its claim.
 * Every user may write a volume, or root alone, as in most clouds.
 */
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Cluster } from './types.ts';

/** The name of the class. Its reclaim policy is Delete: with a claim its data goes. */
export const STORAGE_CLASS = 'standard';
const PROVISIONER = 'example.com/directories';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const EVERY_MS = 250;

interface Claim {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes: readonly string[];
    readonly resources: { readonly requests: { readonly storage: string } };
  };
  readonly status?: { readonly phase?: string };
}

interface Volume {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly hostPath?: { readonly path: string };
    readonly local?: { readonly path: string };
  };
  readonly status?: { readonly phase?: string };
}

/**
 * Makes the class, and volumes of it in the cluster's directory until it is stopped. A volume whose
 * claim is deleted is deleted, and its directory with it.
 *
 * @param ownedByRoot - volumes have mode 0755, so a pod needs an fsGroup. Only for real pods.
 */
export async function startStorage(
  cluster: Pick<Cluster, 'kubeconfig' | 'directory' | 'kubectl'>,
  { ownedByRoot = false } = {},
): Promise<{ stop(): Promise<void> }> {
  await cluster.kubectl(['apply', '-f', '-'], { input: JSON.stringify(storageClass()) });
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const client = createClient({
    connection,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'countersign-test-storage',
  });
  const list = async <T>(path: string): Promise<readonly T[]> =>
    (await client.request<{ items: readonly T[] }>({ method: 'GET', path })).items;
  const provide = async (): Promise<void> => {
    for (const claim of await list<Claim>('/api/v1/persistentvolumeclaims')) {
      if (claim.spec.storageClassName !== STORAGE_CLASS) continue;
      if (claim.status?.phase !== 'Pending') continue;
      const path = join(cluster.directory, 'volumes', claim.metadata.uid);
      mkdirSync(path, { recursive: true });
      const body = volumeFor(claim, ownedByRoot ? volumeOfRoot(path) : volumeOfAll(path));
      await client.request({ method: 'POST', path: '/api/v1/persistentvolumes', body });
    }
    for (const { metadata, spec, status } of await list<Volume>('/api/v1/persistentvolumes')) {
      if (metadata.annotations?.[PROVISIONED_BY] !== PROVISIONER) continue;
      const { path } = spec.local ?? spec.hostPath ?? {};
      if (status?.phase !== 'Released' || path === undefined) continue;
      await client.request({
        method: 'DELETE',
        path: `/api/v1/persistentvolumes/${metadata.name}`,
      });
      rmSync(path, { recursive: true, force: true });
    }
  };
  const stopped = new AbortController();
  const running = (async () => {
    while (!stopped.signal.aborted) {
      // A volume that was made a moment ago is not bound yet; an API server that is restarted
      // answers later.
      await provide().catch(() => undefined);
      await delay(EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopped.abort();
      await running;
      await client.close();
    },
  };
}

function storageClass(): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: STORAGE_CLASS,
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
}

/** Pods have users of their own, and a hostPath takes no fsGroup. */
function volumeOfAll(path: string): object {
  chmodSync(path, 0o777);
  return { hostPath: { path, type: 'Directory' } };
}

/** The kubelet gives a local volume to the fsGroup of its pod. Every node is on this machine. */
function volumeOfRoot(path: string): object {
  chownSync(path, 0, 0);
  chmodSync(path, 0o755);
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'Exists' }];
  return {
    local: { path },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
  };
}

function volumeFor({ metadata, spec }: Claim, source: object): object {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      accessModes: spec.accessModes,
      storageClassName: STORAGE_CLASS,
      capacity: { storage: spec.resources.requests.storage },
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      ...source,
    },
  };
}
