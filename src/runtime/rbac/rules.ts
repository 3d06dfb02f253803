// SPDX-License-Identifier: Apache-2.0
/** Rules that the roles of several components share; each `permissions.ts` puts its own together. */
import { EVERY_DERIVED_NAME } from '../../api/signer/signer.ts';
import { LEASES } from '../../kube/lease/lease.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { leaderLease } from '../component/leases.ts';
import type { PermissionNames } from './permission-names.ts';

const READ = ['get', 'list', 'watch'] as const;

export const READ_CLUSTER_SIGNERS: PermissionRule = {
  apiGroups: ['countersign.dev'],
  resources: ['clustersigners'],
  verbs: READ,
};

/** What who serves signers reads: ClusterSigners, and Signers where they are served. */
export function readSigners({ namespacedSigners }: PermissionNames): PermissionRule {
  const { resources } = READ_CLUSTER_SIGNERS;
  return namespacedSigners === true
    ? { ...READ_CLUSTER_SIGNERS, resources: [...resources, 'signers'] }
    : READ_CLUSTER_SIGNERS;
}

/**
 * Kubernetes gives this to every ServiceAccount (`system:cluster-trust-bundle-discovery`); we name
 * it all the same, so that a cluster that took that role away still works.
 */
export const READ_BUNDLES: PermissionRule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['clustertrustbundles'],
  verbs: READ,
};

/** Reading requests of a kind, and writing their answer to the subresource. */
export function onRequests(
  { group, plural }: { readonly group: string; readonly plural: string },
  subresource: 'status' | 'approval',
): readonly PermissionRule[] {
  return [
    { apiGroups: [group], resources: [plural], verbs: READ },
    { apiGroups: [group], resources: [`${plural}/${subresource}`], verbs: ['update'] },
  ];
}

/** Events on objects of all namespaces. */
export const EVENTS_EVERYWHERE: PermissionRule = {
  apiGroups: ['events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch'],
};

/** Events on cluster-scoped objects are accepted in `default` only (422 elsewhere). */
export const EVENTS_IN_DEFAULT: PermissionRule = {
  ...EVENTS_EVERYWHERE,
  namespace: 'default',
};

/**
 * `verb` on each signer name, spelled out, and on those of all Signers where they are served; nothing
 * without names, since RBAC reads an empty list as all. No Signer is attested for.
 */
export function onSigners(
  { signerNames, namespacedSigners }: PermissionNames,
  verb: 'approve' | 'sign' | 'attest',
): readonly PermissionRule[] {
  const derived = namespacedSigners === true && verb !== 'attest' ? [EVERY_DERIVED_NAME] : [];
  const resourceNames = [...signerNames, ...derived];
  if (resourceNames.length === 0) return [];
  return [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames,
      verbs: [verb],
    },
  ];
}

/**
 * `verbs` on the CA Secrets, by name, one rule a namespace. RBAC grants list and watch of a named
 * object for `fieldSelector=metadata.name=<name>` only.
 */
export function onSecrets(
  { secrets }: Pick<PermissionNames, 'secrets'>,
  verbs: readonly string[],
): readonly PermissionRule[] {
  const byNamespace = Map.groupBy(secrets, ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, found]) => ({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [...new Set(found.map(({ name }) => name))],
    verbs,
    namespace,
  }));
}

/** Reading the CA Secrets of Signers, where they lie. */
export function onSignerSecrets({
  signerSecrets = [],
}: PermissionNames): readonly PermissionRule[] {
  return onSecrets({ secrets: signerSecrets }, READ);
}

/** What every component that signs reads: signers, bundles, and the requests that it answers. */
export function readToSign(
  names: PermissionNames,
  requests: { readonly group: string; readonly plural: string },
): readonly PermissionRule[] {
  return [readSigners(names), READ_BUNDLES, ...onRequests(requests, 'status')];
}

/** Reading every CA Secret that a component signs with. */
export function onCaSecrets(names: PermissionNames): readonly PermissionRule[] {
  return [...onSecrets(names, READ), ...onSignerSecrets(names)];
}

const ON_LEASES = { apiGroups: [LEASES.group], resources: [LEASES.plural] } as const;

/**
 * Each replica makes a Lease of its own, watches the others' and deletes those that were left behind.
 * Their names are the pods', so a role cannot narrow it by name.
 */
export function onMemberLeases({ leases }: PermissionNames): readonly PermissionRule[] {
  if (leases === undefined) return [];
  const verbs = ['create', ...READ, 'update', 'delete'];
  return [{ ...ON_LEASES, verbs, namespace: leases.namespace }];
}

/** One Lease by its name, but for `create`, which cannot be narrowed. */
export function onLeaderLease(
  { leases }: PermissionNames,
  component: string,
): readonly PermissionRule[] {
  if (leases === undefined) return [];
  const { namespace, secretNamespaces } = leases;
  return [
    { ...ON_LEASES, verbs: ['create'], namespace },
    {
      ...ON_LEASES,
      resourceNames: secretNamespaces.map((each) => leaderLease(component, each)),
      verbs: [...READ, 'update'],
      namespace,
    },
  ];
}
