// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_CA_SECRET } from '#api/signer/own-tls.ts';
import { permissions } from './permissions.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { COMPONENTS } from '../component-list.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { permissionNamesOf } from '../names.ts';
import { USER_RULES } from '../user-roles.ts';
import { CLIENT_RULES, READER_RULES } from '../workloads/ledger.ts';
import { merged, onObject } from './managed-rules.ts';

/**
 * Returns the permissions of the operator for one installation: its own work, its objects by name,
 * and the union of the components' permissions, so that RBAC's escalation check lets it create and
 * restore their roles. It has no `escalate`, no `bind` and no wildcard. `create` has a name here,
 * because server-side apply checks it with one.
 *
 * @param objects - all that it may have to create, change or remove
 */
export function operatorRules(
  plan: InstallationPlan,
  objects: readonly ManagedObject[],
): readonly PermissionRule[] {
  return merged([
    ...ownRules(plan),
    ...objects.flatMap(onObject),
    ...componentRules(plan),
    // The creator of a role must hold its permissions.
    ...USER_RULES,
    ...(plan.components.has('ledger') ? [...READER_RULES, ...CLIENT_RULES] : []),
  ]);
}

function ownRules({
  installation,
  keysNamespace,
  parts,
}: InstallationPlan): readonly PermissionRule[] {
  const { namespace, servingSigner } = installation;
  const own = permissions({ leases: { namespace, secretNamespaces: [keysNamespace] } });
  if (parts.servingSigner !== true) return own;
  // The writer of a ClusterSigner needs these.
  const sign: PermissionRule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [servingSigner],
    verbs: ['sign', 'attest'],
  };
  const use: PermissionRule = {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [OWN_TLS_CA_SECRET],
    verbs: ['use'],
    namespace: keysNamespace,
  };
  return [...own, use, sign];
}

function componentRules({ components, installation }: InstallationPlan): readonly PermissionRule[] {
  return [...components.keys()].flatMap((component) => {
    const description = COMPONENTS.get(component);
    return description?.permissions(permissionNamesOf(description, installation)) ?? [];
  });
}
