// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import type { Run } from './run.ts';
import { StepSkipped } from './steps.ts';

export interface RunningPod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly state?: {
        readonly waiting?: { readonly reason?: string; readonly message?: string };
      };
    }[];
  };
}

/** Returns a pod that waits, with one volume for each list of projected sources. */
export function podOf(
  run: Run,
  name: string,
  volumes: readonly (readonly object[])[],
  labels: Readonly<Record<string, string>> = {},
): {
  readonly kind: 'Pod';
  readonly metadata: {
    name: string;
    namespace: string;
    labels: Readonly<Record<string, string>>;
  };
  spec: object;
} {
  return {
    kind: 'Pod',
    metadata: { name: podName(run, name), namespace: run.namespace, labels },
    spec: {
      serviceAccountName: run.serviceAccount,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: run.image,
          // The requirements of the restricted Pod Security Standard.
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

export function podName(run: Run, name: string): string {
  return `conformance-${run.id}-${name.toLowerCase()}`;
}

export function readPod(run: Run, name: string): Promise<RunningPod> {
  const path = PODS.object({ namespace: run.namespace, name: podName(run, name) });
  return run.client.request<RunningPod>({ method: 'GET', path, signal: run.signal });
}

/** The poll interval. Kubelets check once a second, and back off while a volume is not ready. */
const POD_POLL_MS = 300;

/**
 * Waits until `isDone`. Without kubelets, without room on any, or without the image, a pod that
 * does not run is not the signer's fault.
 *
 * @returns whether it was in time
 * @throws StepSkipped when no node has accepted the pod, or its image is missing, for `quietMs`
 */
export async function awaitPod(
  run: Run,
  name: string,
  isDone: (pod: RunningPod) => boolean,
  timeoutMs: number,
): Promise<boolean> {
  const end = run.clock() + timeoutMs;
  let since: number | undefined;
  for (;;) {
    const pod = await readPod(run, name);
    if (isDone(pod)) return true;
    const now = run.clock();
    const blocked = blockedText(pod);
    since = blocked === undefined ? undefined : (since ?? now);
    if (since !== undefined && now - since >= run.quietMs) throw new StepSkipped(blocked);
    if (now >= end) return false;
    await run.delay(POD_POLL_MS, run.signal);
  }
}

/** Waits until the pod runs. @returns whether it did in time @throws StepSkipped as `awaitPod` */
export function runs(run: Run, name: string, timeoutMs: number): Promise<boolean> {
  return awaitPod(run, name, ({ status }) => status?.phase === 'Running', timeoutMs);
}

/** Returns what in the cluster keeps the pod from running, or undefined if nothing is reported. */
export function blockedText(pod: RunningPod): string | undefined {
  return unschedulableText(pod) ?? missingImageText(pod);
}

function unschedulableText({ status }: RunningPod): string | undefined {
  const found = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (found?.status !== 'False' || found.reason !== 'Unschedulable') return undefined;
  return `no node takes the pod: ${found.message ?? found.reason}`;
}

/** Reasons of a container without its image (pkg/kubelet/images/types.go). */
const MISSING_IMAGE = /^(?:\w*Image\w*|RegistryUnavailable|SignatureValidationFailed)$/;

function missingImageText({ status }: RunningPod): string | undefined {
  const reasons = (status?.containerStatuses ?? []).map(({ state }) => state?.waiting);
  const found = reasons.find((each) => MISSING_IMAGE.test(each?.reason ?? ''));
  if (found === undefined) return undefined;
  return `its node has no image for the pod: ${found.reason ?? ''}: ${found.message ?? ''}`;
}

/** Returns the API server's error for an invalid pod, or undefined if it accepts the pod. */
export async function refusalOf(run: Run, body: object): Promise<string | undefined> {
  const path = PODS.collection(run.namespace);
  const pod = { apiVersion: 'v1', ...body };
  try {
    await run.client.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status === 422) return error.message;
    throw error;
  }
}
