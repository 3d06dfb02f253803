// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Cluster } from '../../cluster/cluster.ts';
import { EVERY_COMPONENT, type ComponentName } from './component-process.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

/** One verb of one rule of one shipped role. */
export interface GrantedVerb {
  readonly component: ComponentName;
  readonly role: Role;
  readonly index: number;
  readonly verb: string;
  /** Without its group. */
  readonly resource: string;
  readonly text: string;
  /** Granted to every ServiceAccount by Kubernetes itself. */
  readonly everybodys: boolean;
}

/** Every verb that the files in rbac/ grant. */
export function eachVerb(): readonly GrantedVerb[] {
  return EVERY_COMPONENT.flatMap((component) =>
    rolesOf(component).flatMap((role) =>
      (role.rules ?? []).flatMap((rule, index) =>
        rule.verbs.map((verb) => {
          const [resource = ''] = rule.resources;
          const text = `${verb} ${resource} (${role.kind})`;
          const read = ['get', 'list', 'watch'].includes(verb);
          const everybodys = resource === 'clustertrustbundles' && read;
          return { component, role, index, verb, resource, text, everybodys };
        }),
      ),
    ),
  );
}

/** Takes the verb away. @returns what gives it back */
export async function withoutVerb(
  cluster: Cluster,
  { role, index, verb }: GrantedVerb,
): Promise<() => Promise<void>> {
  const rules = (role.rules ?? []).flatMap((rule, at) => {
    if (at !== index) return [rule];
    const verbs = rule.verbs.filter((each) => each !== verb);
    return verbs.length === 0 ? [] : [{ ...rule, verbs }];
  });
  await replace(cluster, { ...role, rules });
  return () => replace(cluster, role);
}

/** What is taken from which role. */
export interface TakenVerb {
  /** As `kubectl get` takes it: `clusterrole`, or `role -n <namespace>`. */
  readonly role: readonly string[];
  readonly component: string;
  readonly verb: string;
  readonly resource: string;
  /** Of the one object that the verb is taken for, where a rule names some. */
  readonly name: string;
}

/** Takes a verb away from a component's role, as the cluster has it. @returns what gives it back */
export async function roleWithout(
  cluster: Cluster,
  { role, component, verb, resource, name }: TakenVerb,
): Promise<() => Promise<void>> {
  const get = ['get', ...role, `countersign-${component}`, '-o', 'json'];
  const live = JSON.parse((await cluster.kubectl(get)).stdout) as Role;
  // Of a version that the first write ends.
  const before = { ...live, metadata: { ...live.metadata, resourceVersion: undefined } };
  const rules = (live.rules ?? []).flatMap((rule) => {
    const { resources, resourceNames, verbs } = rule;
    const isNamed = resourceNames?.includes(name) ?? true;
    if (!resources.includes(resource) || !isNamed) return [rule];
    const others = resourceNames?.filter((each) => each !== name) ?? [];
    const narrower = { ...rule, verbs: verbs.filter((each) => each !== verb) };
    const own = resourceNames === undefined ? narrower : { ...narrower, resourceNames: [name] };
    const rest = { ...rule, resourceNames: others };
    return [own, ...(others.length === 0 ? [] : [rest])].filter((each) => each.verbs.length > 0);
  });
  assert.notDeepEqual(rules, live.rules);
  await replace(cluster, { ...before, rules });
  return () => replace(cluster, before);
}

/** Writes a role as it is given. */
export async function replace(cluster: Cluster, role: Role): Promise<void> {
  await cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(role) });
}

function rolesOf(component: ComponentName): readonly Role[] {
  const file = join(import.meta.dirname, `../../../rbac/${component}.yaml`);
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS() as Role)
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
}
