// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';
import { refusalOfPods, stuckReason } from '#kube/apply/objects/rollout.ts';
import type { Deployment } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import type { InstalledMetadata } from '../installer.ts';
import { lacksOnlyReadiness, unreadyReason, type PodStatus } from './pod-status.ts';
import { MANAGED, mapSeen, listVisible } from './list-visible.ts';

interface LabelledObject extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

interface RawDeployment extends LabelledObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly {
          readonly image?: string;
          readonly args?: readonly string[];
        }[];
      };
    };
  };
  readonly status?: Readonly<Record<string, unknown>> & { readonly availableReplicas?: number };
}

interface RawPod extends LabelledObject {
  readonly status?: PodStatus;
}

/**
 * Reads the Deployments, and their pods if replicas are missing.
 *
 * @param namespace - the namespace of the components, or undefined for all namespaces
 * @param installed - receives the metadata of each Deployment but an operator's own, which a person
 *   installs
 */
export async function readDeployments(
  client: Client,
  namespace: string | undefined,
  installed: (metadata: InstalledMetadata) => void,
): Promise<ReadResult<readonly Deployment[]>> {
  const place = namespace === undefined ? {} : { namespace };
  const where = { version: 'v1', ...place, labelSelector: MANAGED };
  const found = await listVisible(
    client,
    { ...where, group: 'apps', plural: 'deployments' },
    (deployment: RawDeployment) => {
      const { metadata } = deployment;
      if (!componentOf(deployment).endsWith('operator')) installed(metadata);
      return [deployment];
    },
  );
  const isShort = 'value' in found && found.value.map(deploymentOf).some(isAway);
  const pods = isShort
    ? await listVisible(client, { ...where, group: '', plural: 'pods' }, (pod: RawPod) => [pod])
    : { value: [] };
  // If the user may not list pods, the cause comes from the Deployments alone.
  const seen = 'value' in pods ? pods.value : [];
  return mapSeen(found, (all) => all.map((each) => withCause(each, seen)));
}

function isAway({ available, wanted }: Deployment): boolean {
  return available < wanted;
}

function withCause(raw: RawDeployment, pods: readonly RawPod[]): Deployment {
  const deployment = deploymentOf(raw);
  if (!isAway(deployment)) return deployment;
  const { status = {} } = raw;
  // If the API server rejects pods, the existing pods run. An exceeded deadline explains less than
  // a pod.
  const refusal = refusalOfPods(status);
  const found = refusal === undefined ? faultOfPods(raw, pods) : undefined;
  const why = refusal ?? found?.why ?? stuckReason(status);
  return { ...deployment, ...(why === undefined ? {} : { why }), ...found };
}

/** Returns the fault of one pod. It only lacks readiness if that is true of all unready pods. */
function faultOfPods(
  deployment: RawDeployment,
  pods: readonly RawPod[],
): Pick<Deployment, 'why' | 'lacksOnlyReadiness'> | undefined {
  const faults = pods.flatMap((pod) => {
    const { name, deletionTimestamp } = pod.metadata;
    const isOfIt = componentOf(pod) === componentOf(deployment) && deletionTimestamp === undefined;
    const fault = isOfIt ? unreadyReason(pod.status) : undefined;
    if (fault === undefined) return [];
    const why = `pod ${name}: ${fault}`;
    return [lacksOnlyReadiness(pod.status) ? { why, lacksOnlyReadiness: true as const } : { why }];
  });
  return faults.find((each) => !('lacksOnlyReadiness' in each)) ?? faults[0];
}

function deploymentOf(deployment: RawDeployment): Deployment {
  const { metadata, spec, status } = deployment;
  const { image = '', args = [] } = containerOf(spec?.template);
  return {
    name: metadata.name,
    component: componentOf(deployment),
    image,
    args,
    wanted: spec?.replicas ?? 1,
    available: status?.availableReplicas ?? 0,
  };
}

function containerOf(template: NonNullable<RawDeployment['spec']>['template']): {
  readonly image?: string;
  readonly args?: readonly string[];
} {
  return template?.spec?.containers?.[0] ?? {};
}

function componentOf({ metadata }: LabelledObject): string {
  return metadata.labels?.[LABEL_COMPONENT] ?? '';
}
