// SPDX-License-Identifier: Apache-2.0
/** Permissions of the components: their roles, role bindings, and APIServices. */
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';
import type { AggregatedApi, Binding } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { MANAGED, mapSeen, listVisible } from './list-visible.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

interface Role extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly namespace?: string;
  };
  /** The API server writes null if a role lost all rules. */
  readonly rules?: readonly Partial<PermissionRule>[] | null;
}

/**
 * Reads the rules of each component's ClusterRole and Roles. Aggregated ClusterRoles hold none of
 * these rules.
 */
export async function readRoles(
  client: Client,
): Promise<ReadResult<ReadonlyMap<string, readonly PermissionRule[]>>> {
  const take = ({ metadata, rules }: Role): readonly (readonly [string, PermissionRule[]])[] => {
    const component = metadata.labels?.[LABEL_COMPONENT] ?? '';
    const { namespace } = metadata;
    return [[component, (rules ?? []).map((rule) => ruleOf(rule, namespace))]];
  };
  const [cluster, namespaced] = await Promise.all([
    listVisible(client, { ...RBAC, plural: 'clusterroles', labelSelector: MANAGED }, take),
    listVisible(client, { ...RBAC, plural: 'roles', labelSelector: MANAGED }, take),
  ]);
  if (!('value' in cluster)) return cluster;
  if (!('value' in namespaced)) return namespaced;
  const byComponent = new Map<string, readonly PermissionRule[]>();
  const known = new Set(cluster.value.map(([component]) => component));
  for (const [component, rules] of [...cluster.value, ...namespaced.value]) {
    if (!known.has(component)) continue;
    byComponent.set(component, [...(byComponent.get(component) ?? []), ...rules]);
  }
  return { value: byComponent };
}

function ruleOf(rule: Partial<PermissionRule>, namespace: string | undefined): PermissionRule {
  const { apiGroups = [], resources = [], verbs = [], resourceNames } = rule;
  return {
    apiGroups,
    resources,
    verbs,
    ...(resourceNames === undefined ? {} : { resourceNames }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

interface RawBinding extends StoredObject {
  readonly metadata: Role['metadata'];
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

/** Reads the bindings of roles named `countersign-…`, with any labels. */
export async function readBindings(client: Client): Promise<ReadResult<readonly Binding[]>> {
  const [cluster, namespaced] = await Promise.all([
    listVisible(client, { ...RBAC, plural: 'clusterrolebindings' }, bindingOf),
    listVisible(client, { ...RBAC, plural: 'rolebindings' }, bindingOf),
  ]);
  if (!('value' in cluster)) return cluster;
  return mapSeen(namespaced, (found) => [...cluster.value, ...found]);
}

function bindingOf({ metadata, roleRef, subjects = [] }: RawBinding): readonly Binding[] {
  if (!roleRef.name.startsWith('countersign-')) return [];
  const accounts = subjects
    .filter(({ kind }) => kind === 'ServiceAccount')
    .map(({ namespace = '', name }) => `${namespace}/${name}`);
  const role = { kind: roleRef.kind, name: roleRef.name };
  const { namespace } = metadata;
  return [namespace === undefined ? { role, accounts } : { namespace, role, accounts }];
}

/** Reads the names of all ServiceAccounts of a namespace, with any labels. */
export function readAccounts(
  client: Client,
  namespace: string,
): Promise<ReadResult<readonly string[]>> {
  const listing = { group: '', version: 'v1', plural: 'serviceaccounts', namespace };
  return listVisible(client, listing, ({ metadata }: StoredObject) => [metadata.name]);
}

interface RawApiService extends StoredObject {
  readonly spec?: { readonly group?: string; readonly service?: object };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/**
 * Reads the APIServices of the groups of Countersign that a Service serves. The others belong to
 * CustomResourceDefinitions.
 */
export function readApiServices(client: Client): Promise<ReadResult<readonly AggregatedApi[]>> {
  const listing = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices' };
  return listVisible(client, listing, (object: RawApiService) => {
    const { group = '', service } = object.spec ?? {};
    return group.endsWith('countersign.dev') && service !== undefined ? [apiServiceOf(object)] : [];
  });
}

function apiServiceOf({ metadata, status }: RawApiService): AggregatedApi {
  const found = findCondition(status?.conditions, 'Available');
  if (found === undefined) return { name: metadata.name, available: false };
  const { reason = '', message = '' } = found;
  const available = found.status === 'True';
  return { name: metadata.name, available, why: `${reason}: ${message}` };
}
