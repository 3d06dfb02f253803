// SPDX-License-Identifier: Apache-2.0
import { CA_BUNDLE_RESOURCES } from '../../api/object/ca-bundle-target.ts';
import { SIGNER_TRUST } from '../../api/signer/signer.ts';
import { trustConfigMapName } from '../../api/object/trust-config-map.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  READ_BUNDLES,
  onLeaderLease,
  readPolicies,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the component that copies anchors: ConfigMaps of its bundles' names, in every namespace, the objects
 * with a `caBundle` that were named, and nothing of any other name. Server-side apply asks for `create` by name, so the
 * role lists it.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    READ_BUNDLES,
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    ...onConfigMaps(names),
    ...onSignerTrust(names),
    ...onCaBundles(names),
    EVENTS_EVERYWHERE,
    readPolicies(names, [
      'countersign-trust-config-maps',
      'countersign-trust-ca-bundles',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'trust-distributor'),
  ];
}

/** What it needs in a namespace whose Signers are served. */
export const ON_SIGNER_TRUST: PermissionRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [SIGNER_TRUST],
  verbs: ['list', 'watch', 'create', 'patch', 'delete'],
};

/** The ConfigMap of the Signers, in each namespace where an administrator granted the Secret of one. */
function onSignerTrust({ signerSecrets = [] }: PermissionNames): readonly PermissionRule[] {
  const namespaces = new Set(signerSecrets.map(({ namespace }) => namespace));
  return [...namespaces].map((namespace) => ({ ...ON_SIGNER_TRUST, namespace }));
}

/** No rule without a name: an empty `resourceNames` would mean every ConfigMap. */
function onConfigMaps({ bundles }: PermissionNames): readonly PermissionRule[] {
  if (bundles.length === 0) return [];
  return [
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: bundles.map(trustConfigMapName),
      verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    },
  ];
}

/** Of webhook configurations these names are all that holds the component: no policy is evaluated on them. */
function onCaBundles({ caBundles = [] }: PermissionNames): readonly PermissionRule[] {
  return [...Map.groupBy(caBundles, ({ resource }) => resource)].map(([resource, found]) => ({
    apiGroups: [CA_BUNDLE_RESOURCES[resource].group],
    resources: [resource],
    resourceNames: found.map(({ name }) => name),
    verbs: ['list', 'watch', 'patch'],
  }));
}
