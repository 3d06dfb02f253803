// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { labelsOf } from './names.ts';

/** A Kubernetes object to render as YAML. */
export type Manifest = Readonly<Record<string, unknown>>;

const RBAC = 'rbac.authorization.k8s.io';

/** Returns the ServiceAccount, ClusterRole, one Role for each namespace, and their bindings. */
export function roleManifests(
  component: string,
  namespace: string,
  rules: readonly PermissionRule[],
): readonly Manifest[] {
  const name = `countersign-${component}`;
  const labels = labelsOf(component);
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const byNamespace = Map.groupBy(rules, (rule) => rule.namespace);
  const account: Manifest = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace, labels },
    // The Deployment requests the token. Other pods with this ServiceAccount get none.
    automountServiceAccountToken: false,
  };
  const pairs = [...byNamespace].flatMap(([where, found]): Manifest[] => {
    const kind = where === undefined ? 'ClusterRole' : 'Role';
    const metadata = { name, ...(where === undefined ? {} : { namespace: where }), labels };
    return [
      { apiVersion: `${RBAC}/v1`, kind, metadata, rules: found.map(roleRule) },
      {
        apiVersion: `${RBAC}/v1`,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: RBAC, kind, name },
        subjects,
      },
    ];
  });
  return [account, ...pairs];
}

function roleRule({ apiGroups, resources, resourceNames, verbs }: PermissionRule): Manifest {
  return {
    apiGroups,
    resources,
    ...(resourceNames === undefined ? {} : { resourceNames }),
    verbs,
  };
}
