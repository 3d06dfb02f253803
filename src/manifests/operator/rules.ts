// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_CA_SECRET } from '../../api/signer/own-tls.ts';
import { permissions } from '../../controllers/operator/permissions.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { ManagedObject } from '../../reconciling/objects/managed-object.ts';
import { COMPONENTS } from '../components.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { permissionNamesOf } from '../names.ts';
import { READER_RULES } from '../workloads/ledger.ts';
import { merged, onObject } from './managed-rules.ts';

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
  return merged([
    ...ownRules(plan),
    ...objects.flatMap(onObject),
    ...componentRules(plan),
    // Who makes the role for readers must hold what it grants.
    ...(plan.components.has('ledger') ? READER_RULES : []),
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

function componentRules({ components, installation }: InstallationPlan): readonly PermissionRule[] {
  return [...components.keys()].flatMap((component) => {
    const description = COMPONENTS.get(component);
    return description?.permissions(permissionNamesOf(description, installation)) ?? [];
  });
}
