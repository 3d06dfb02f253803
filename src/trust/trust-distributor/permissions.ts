// SPDX-License-Identifier: Apache-2.0
import { CA_BUNDLE_RESOURCES } from '#api/object/ca-bundle-target.ts';
import { SIGNER_TRUST } from '#api/signer/signer.ts';
import { trustConfigMapName } from '#api/object/trust-config-map.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_EVERYWHERE,
  READ_BUNDLES,
  onLeaderLease,
  readPolicies,
  readSigners,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the component: ConfigMaps with the names of its bundles in every
 * namespace, and the configured objects with a `caBundle`. Server-side apply requires `create` by
 * name, so the role lists it.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  return [
    readSigners(names),
    READ_BUNDLES,
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    ...onConfigMaps(names.bundles.map(trustConfigMapName)),
    ...onSignerTrust(names),
    ...onCaBundles(names),
    EVENTS_EVERYWHERE,
    readPolicies(names, [
      'countersign-trust-config-maps',
      'countersign-trust-ca-bundles',
      'countersign-component-metadata',
      'countersign-events',
    ]),
    ...onLeaderLease(names, 'trust-distributor'),
  ];
}

/** Permissions in a namespace whose Signers are served. */
export const ON_SIGNER_TRUST: PermissionRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [SIGNER_TRUST],
  verbs: ['list', 'watch', 'create', 'patch', 'delete'],
};

/**
 * Returns rules for the Signers' ConfigMap, in each namespace where an administrator granted a
 * Signer's Secret.
 */
function onSignerTrust({ signerSecrets = [] }: PermissionNames): readonly PermissionRule[] {
  const namespaces = new Set(signerSecrets.map(({ namespace }) => namespace));
  return [...namespaces].map((namespace) => ({ ...ON_SIGNER_TRUST, namespace }));
}

/** Returns rules with names only: an empty `resourceNames` would mean every ConfigMap. */
export function onConfigMaps(resourceNames: readonly string[]): readonly PermissionRule[] {
  if (resourceNames.length === 0) return [];
  const verbs = ['list', 'watch', 'create', 'patch', 'delete'];
  return [{ apiGroups: [''], resources: ['configmaps'], resourceNames, verbs }];
}

/**
 * Returns rules per resource. For webhook configurations these names are the only restriction,
 * since the API server evaluates no policy on them.
 */
function onCaBundles({ caBundles = [] }: PermissionNames): readonly PermissionRule[] {
  return [...Map.groupBy(caBundles, ({ resource }) => resource)].map(([resource, found]) => ({
    apiGroups: [CA_BUNDLE_RESOURCES[resource].group],
    resources: [resource],
    resourceNames: found.map(({ name }) => name),
    verbs: ['list', 'watch', 'patch'],
  }));
}
