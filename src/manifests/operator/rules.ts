// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_CA_SECRET } from '../../api/signer/own-tls.ts';
import { permissions } from '../../controllers/operator/permissions.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { ruleOf } from '../../reconciling/objects/kinds.ts';
import type { ManagedObject } from '../../reconciling/objects/managed-object.ts';
import { COMPONENTS } from '../components.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { permissionNamesOf } from '../names.ts';

const READ = ['get', 'list', 'watch'];

/**
 * The permissions of the operator for one installation: its own work, its objects by name, and the union of what the
 * components may do, so that RBAC's own check of escalations lets it make and heal their roles. No `escalate`, no `bind`, no
 * wildcard. `create` has a name here, because server-side apply asks for it with one.
 *
 * @param objects - all that it may have to make, change or remove
 */
export function operatorRules(
  plan: InstallationPlan,
  objects: readonly ManagedObject[],
): readonly PermissionRule[] {
  return merged([...ownRules(plan), ...objects.flatMap(onObject), ...componentRules(plan)]);
}

function ownRules({
  installation,
  keysNamespace,
  parts,
}: InstallationPlan): readonly PermissionRule[] {
  const { namespace, servingSigner } = installation;
  const own = permissions({ leases: { namespace, secretNamespaces: [keysNamespace] } });
  if (parts.servingSigner !== true) return own;
  // Whoever writes a ClusterSigner needs these.
  const sign: PermissionRule = {
    ...{ apiGroups: ['certificates.k8s.io'], resources: ['signers'] },
    ...{ resourceNames: [servingSigner], verbs: ['sign', 'attest'] },
  };
  const use: PermissionRule = {
    ...{ apiGroups: [''], resources: ['secrets'], resourceNames: [OWN_TLS_CA_SECRET] },
    ...{ verbs: ['use'], namespace: keysNamespace },
  };
  return [...own, use, sign];
}

function onObject(object: ManagedObject): readonly PermissionRule[] {
  const { resource, watched, owned } = ruleOf(object);
  const { name, namespace } = object.metadata;
  const of = {
    ...{ apiGroups: [resource.group], resources: [resource.plural] },
    ...(namespace === undefined ? {} : { namespace }),
  };
  const named = { ...of, resourceNames: [name] };
  const write = ['create', 'patch', ...(owned ? ['delete'] : [])];
  return [
    { ...named, verbs: write },
    { ...(watched === 'name' ? named : of), verbs: READ },
  ];
}

function componentRules({ components, installation }: InstallationPlan): readonly PermissionRule[] {
  return [...components.keys()].flatMap((component) => {
    const description = COMPONENTS.get(component);
    return description?.permissions(permissionNamesOf(description, installation)) ?? [];
  });
}

/** One resource at a time: what may be done with it, by any name and by which names. */
interface OneResource {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly verbs: ReadonlySet<string>;
}

/** The same permissions in few rules: one for each group, namespace, list of names and list of verbs. */
function merged(rules: readonly PermissionRule[]): readonly PermissionRule[] {
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
  resourceNames = [undefined] as unknown as string[],
  verbs,
  namespace,
}: PermissionRule): readonly OneResource[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.map((name) => ({ group, resource, namespace, name, verbs: new Set(verbs) })),
    ),
  );
}

function unionOfVerbs(found: Some<OneResource>): OneResource {
  return { ...found[0], verbs: new Set(found.flatMap(({ verbs }) => [...verbs])) };
}

type Some<T> = readonly [T, ...T[]];

function byKey<T>(items: readonly T[], key: (item: T) => string): readonly Some<T>[] {
  return [...Map.groupBy(items, key).values()] as unknown as readonly Some<T>[];
}

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** Verbs in a fixed order. */
function sorted(verbs: ReadonlySet<string>): readonly string[] {
  const rank = (verb: string): number =>
    (VERBS.indexOf(verb) + VERBS.length + 1) % (VERBS.length + 1);
  return [...verbs].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
