// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import { resource } from '../kube/resource/resource.ts';
import type { Kit } from './run.ts';
import { NotTaken } from './steps.ts';

export const PODS = resource({ group: '', version: 'v1', plural: 'pods' });

export interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** A pod that waits, with one volume for each list of projected sources. */
export function podOf(
  kit: Kit,
  name: string,
  volumes: readonly (readonly object[])[],
): { readonly kind: 'Pod'; readonly metadata: { name: string; namespace: string }; spec: object } {
  return {
    kind: 'Pod',
    metadata: { name: podName(kit, name), namespace: kit.namespace },
    spec: {
      serviceAccountName: kit.serviceAccount,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: kit.image,
          // What the restricted Pod Security Standard asks for.
          securityContext: {
            allowPrivilegeEscalation: false,
            runAsNonRoot: true,
            runAsUser: NOBODY,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
          volumeMounts: volumes.map((_each, index) => ({
            name: `projected-${index}`,
            mountPath: `/run/conformance/${index}`,
          })),
        },
      ],
      volumes: volumes.map((sources, index) => ({
        name: `projected-${index}`,
        projected: { sources },
      })),
    },
  };
}

const NOBODY = 65_534;

export function podName(kit: Kit, name: string): string {
  return `conformance-${kit.run}-${name.toLowerCase()}`;
}

export function readPod(kit: Kit, name: string): Promise<Pod> {
  const path = PODS.object({ namespace: kit.namespace, name: podName(kit, name) });
  return kit.client.request<Pod>({ method: 'GET', path, signal: kit.signal });
}

/** Kubelets look once a second, and back off when a volume is not there yet. */
const LOOK_MS = 300;

/**
 * Waits until `isDone`. Without kubelets, or with none that has room, nobody is to blame for what a
 * pod does not get.
 *
 * @returns whether it was in time
 * @throws NotTaken when no node has taken the pod for as long as the kit looks at what is left alone
 */
export async function awaitPod(
  kit: Kit,
  name: string,
  isDone: (pod: Pod) => boolean,
  timeoutMs: number,
): Promise<boolean> {
  const end = kit.clock() + timeoutMs;
  let since: number | undefined;
  for (;;) {
    const pod = await readPod(kit, name);
    if (isDone(pod)) return true;
    const now = kit.clock();
    const unschedulable = unschedulableText(pod);
    since = unschedulable === undefined ? undefined : (since ?? now);
    if (since !== undefined && now - since >= kit.quietMs) throw new NotTaken(unschedulable);
    if (now >= end) return false;
    await kit.delay(LOOK_MS, kit.signal);
  }
}

/** Waits until the pod runs. @returns whether it did in time @throws NotTaken as `awaitPod` */
export function runs(kit: Kit, name: string, timeoutMs: number): Promise<boolean> {
  return awaitPod(kit, name, ({ status }) => status?.phase === 'Running', timeoutMs);
}

/** Why no node takes the pod, as the scheduler says it; undefined where it says no such thing. */
export function unschedulableText({ status }: Pod): string | undefined {
  const found = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (found?.status !== 'False' || found.reason !== 'Unschedulable') return undefined;
  return `no node takes the pod: ${found.message ?? found.reason}`;
}

/** What the API server says of a pod that is not to be made. @returns undefined where it takes it */
export async function refusalOf(kit: Kit, body: object): Promise<string | undefined> {
  const path = PODS.collection(kit.namespace);
  const pod = { apiVersion: 'v1', ...body };
  try {
    await kit.client.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status === 422) return error.message;
    throw error;
  }
}
