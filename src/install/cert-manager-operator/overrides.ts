// SPDX-License-Identifier: Apache-2.0
import type { CertManagerComponent } from '#api/operator/cert-manager-deployment.ts';
import type { ComponentOverrides } from '#api/operator/countersign.ts';
import { isRecord } from '#base/record.ts';
import { type ManagedObject, listOf } from '#kube/apply/objects/managed-object.ts';

/** Names of the components' Deployments in the release. */
export const DEPLOYMENTS: Readonly<Record<CertManagerComponent, string>> = {
  controller: 'cert-manager',
  webhook: 'cert-manager-webhook',
  cainjector: 'cert-manager-cainjector',
};

/** Fields of the pod's spec that an override replaces. */
const POD_FIELDS = [
  'nodeSelector',
  'tolerations',
  'affinity',
  'topologySpreadConstraints',
  'priorityClassName',
] as const;

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the Deployment of a release with a user's overrides. The release's own labels stay,
 * because its selectors use them.
 */
export function withOverrides(deployment: ManagedObject, given: ComponentOverrides): ManagedObject {
  const spec = recordOf(deployment['spec']);
  const template = recordOf(spec['template']);
  const { replicas } = given;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, ...marks({ ...deployment.metadata }, given) },
    spec: {
      ...spec,
      ...(replicas === undefined ? {} : { replicas }),
      template: {
        ...template,
        metadata: {
          ...recordOf(template['metadata']),
          ...marks(recordOf(template['metadata']), given),
        },
        spec: podSpec(recordOf(template['spec']), given),
      },
    },
  };
}

function marks(metadata: Json, { labels, annotations }: ComponentOverrides): Json {
  return {
    ...(labels === undefined
      ? {}
      : { labels: { ...recordOf(labels), ...recordOf(metadata['labels']) } }),
    ...(annotations === undefined
      ? {}
      : { annotations: { ...recordOf(annotations), ...recordOf(metadata['annotations']) } }),
  };
}

function podSpec(spec: Json, given: ComponentOverrides): Json {
  const fields = POD_FIELDS.filter((field) => given[field] !== undefined);
  const containers = listOf(spec['containers']).map(recordOf);
  return {
    ...spec,
    // An affinity may be null.
    ...Object.fromEntries(fields.map((field) => [field, given[field] ?? {}])),
    // The release has one container in each pod.
    containers: containers.map((each) => container(each, given)),
  };
}

function container(
  own: Json,
  { extraArgs = [], extraEnv = [], resources }: ComponentOverrides,
): Json {
  const set = new Set(extraArgs.map(flagOf));
  const args = texts(own['args']).filter((each) => !set.has(flagOf(each)));
  const env = listOf(own['env']);
  return {
    ...own,
    ...(extraArgs.length === 0 ? {} : { args: [...args, ...extraArgs] }),
    ...(extraEnv.length === 0 ? {} : { env: [...env, ...extraEnv] }),
    ...(resources === undefined ? {} : { resources }),
  };
}

function flagOf(argument: string): string {
  return argument.split('=', 1)[0] ?? '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}
