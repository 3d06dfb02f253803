// SPDX-License-Identifier: Apache-2.0
/**
 * `apps/v1` Deployment, StatefulSet and DaemonSet: the credentials of their pods, and the state of
 * a rollout.
 */
import type { LabelSelector } from '../object/label-selector.ts';
import type { KubeObject } from '../object/object.ts';
import type { PodVolume } from '../object/pod.ts';
import type { Condition } from '../request/conditions.ts';

export const WORKLOAD_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** Group, version and plural of each kind, for URLs and RBAC rules. */
export const WORKLOAD_RESOURCES = {
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments' },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets' },
  DaemonSet: { group: 'apps', version: 'v1', plural: 'daemonsets' },
} as const;

/** A number of pods, or a percentage of them: `25%`. */
export type IntOrPercent = number | string;

/** Fields of all three kinds. Fields of another kind are absent. */
export interface Workload extends KubeObject {
  /** The field manager that last wrote the pod template, besides ours. Of cached objects only. */
  readonly templateWriter?: string;
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
    /** Deployments only. */
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxUnavailable?: IntOrPercent;
        readonly maxSurge?: IntOrPercent;
      };
    };
    /** StatefulSets and DaemonSets only. */
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly partition?: number;
        readonly maxUnavailable?: IntOrPercent;
        readonly maxSurge?: IntOrPercent;
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly volumes?: readonly PodVolume[];
    readonly containers?: readonly TemplateContainer[];
    readonly initContainers?: readonly TemplateContainer[];
  };
}

/** core/v1 Container: the Secrets and volumes that it reads. */
export interface TemplateContainer {
  readonly name?: string;
  /**
   * Restart policy of an init container. `Always` makes it a sidecar, which the kubelet restarts
   * when it ends.
   */
  readonly restartPolicy?: string;
  readonly env?: readonly {
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string } };
  }[];
  readonly envFrom?: readonly { readonly secretRef?: { readonly name?: string } }[];
  readonly volumeMounts?: readonly {
    readonly name?: string;
    readonly subPath?: string;
    readonly subPathExpr?: string;
  }[];
}

/** Returns the workload as logs and messages name it: `Deployment team-a/web`. */
export function workloadText({ kind, metadata }: Workload): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
