// SPDX-License-Identifier: Apache-2.0
/** The permissions to maintain objects, in few rules. */
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

const READ = ['get', 'list', 'watch'];

/**
 * Returns the permissions to create and change one object by its name, to remove it if it is owned,
 * and to watch it.
 */
export function onObject(
  object: Pick<ManagedObject, 'apiVersion' | 'kind' | 'metadata'>,
): readonly PermissionRule[] {
  const { resource, watched, owned } = ruleOf(object);
  const { name, namespace } = object.metadata;
  const of = {
    apiGroups: [resource.group],
    resources: [resource.plural],
    ...(namespace === undefined ? {} : { namespace }),
  };
  const named = { ...of, resourceNames: [name] };
  const write = ['create', 'patch', ...(owned ? ['delete'] : [])];
  return [
    { ...named, verbs: write },
    { ...(watched === 'name' ? named : of), verbs: READ },
  ];
}

/** Permissions on one resource: verbs for any name, and for listed names. */
interface OneResource {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly verbs: ReadonlySet<string>;
}

/**
 * Returns the same permissions in few rules: one for each group, namespace, list of names and list
 * of verbs.
 */
export function merged(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  const single = byKey(rules.flatMap(split), ({ group, resource, namespace, name }) =>
    JSON.stringify([group, resource, namespace, name]),
  ).map(unionOfVerbs);
  const withNames = byKey(single, ({ group, resource, namespace, name, verbs }) =>
    JSON.stringify([group, resource, namespace, name === undefined, sorted(verbs)]),
  ).map((found) => ({ ...found[0], names: found.flatMap(({ name }) => name ?? []) }));
  return byKey(withNames, ({ group, namespace, names, verbs }) =>
    JSON.stringify([group, namespace, names, sorted(verbs)]),
  ).map((found) => {
    const [{ group, namespace, names, verbs }] = found;
    return {
      apiGroups: [group],
      resources: found.map(({ resource }) => resource),
      ...(names.length === 0 ? {} : { resourceNames: names }),
      verbs: sorted(verbs),
      ...(namespace === undefined ? {} : { namespace }),
    };
  });
}

function split({
  apiGroups,
  resources,
  resourceNames,
  verbs,
  namespace,
}: PermissionRule): readonly OneResource[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      (resourceNames ?? [undefined]).map((name) => ({
        group,
        resource,
        namespace,
        name,
        verbs: new Set(verbs),
      })),
    ),
  );
}

function unionOfVerbs(found: Some<OneResource>): OneResource {
  return { ...found[0], verbs: new Set(found.flatMap(({ verbs }) => [...verbs])) };
}

type Some<T> = readonly [T, ...T[]];

function byKey<T>(items: readonly T[], key: (item: T) => string): readonly Some<T>[] {
  return [...Map.groupBy(items, key).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  );
}

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** Returns the verbs in a fixed order. */
function sorted(verbs: ReadonlySet<string>): readonly string[] {
  const rank = (verb: string): number =>
    (VERBS.indexOf(verb) + VERBS.length + 1) % (VERBS.length + 1);
  return [...verbs].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
