// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Cluster } from '../../cluster/cluster.ts';

interface GrantedRole {
  readonly metadata: object;
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
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

/** Takes a verb away from a component's role. @returns what gives it back */
export async function roleWithout(
  cluster: Cluster,
  { role, component, verb, resource, name }: TakenVerb,
): Promise<() => Promise<void>> {
  const get = ['get', ...role, `countersign-${component}`, '-o', 'json'];
  const before = JSON.parse((await cluster.kubectl(get)).stdout) as GrantedRole;
  const rules = before.rules.flatMap((rule) => {
    const { resources, resourceNames, verbs } = rule;
    const isNamed = resourceNames?.includes(name) ?? true;
    if (!resources.includes(resource) || !isNamed) return [rule];
    const others = resourceNames?.filter((each) => each !== name) ?? [];
    const narrower = { ...rule, verbs: verbs.filter((each) => each !== verb) };
    const own = resourceNames === undefined ? narrower : { ...narrower, resourceNames: [name] };
    const rest = { ...rule, resourceNames: others };
    return [own, ...(others.length === 0 ? [] : [rest])].filter((each) => each.verbs.length > 0);
  });
  assert.notDeepEqual(rules, before.rules);
  const replace = async (changed: GrantedRole): Promise<void> => {
    const body = { ...changed, metadata: { ...changed.metadata, resourceVersion: undefined } };
    await cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(body) });
  };
  await replace({ ...before, rules });
  return () => replace(before);
}
