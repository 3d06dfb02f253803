// SPDX-License-Identifier: Apache-2.0
/**
 * Defines rules that the roles of several components share. Each `permissions.ts` combines its own.
 */
import { ACME_GROUP } from '#api/acme/names.ts';
import { EXTERNAL_CLUSTER_SIGNERS } from '#api/external/names.ts';
import { everySignerOf } from '#base/authorizing-names.ts';
import { EVERY_DERIVED_NAME } from '#api/signer/signer.ts';
import { LEASES } from '#kube/lease/lease.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { leaderLease } from '../leases.ts';
import type { PermissionNames } from './permission-names.ts';

const READ = ['get', 'list', 'watch'] as const;

/** Permission to read ClusterSigners. */
export const READ_CLUSTER_SIGNERS: PermissionRule = {
  apiGroups: ['countersign.dev'],
  resources: ['clustersigners'],
  verbs: READ,
};

/** Returns permission to read ClusterSigners, and Signers if they are served. */
export function readSigners({ namespacedSigners }: PermissionNames): PermissionRule {
  const { resources } = READ_CLUSTER_SIGNERS;
  return namespacedSigners === true
    ? { ...READ_CLUSTER_SIGNERS, resources: [...resources, 'signers'] }
    : READ_CLUSTER_SIGNERS;
}

/**
 * Returns permission to read AcmeClusterSigners, and AcmeSigners if they are served. It has no
 * effect if the kinds are not installed.
 */
export function readAcmeSigners({
  namespacedSigners,
}: Pick<PermissionNames, 'namespacedSigners'>): PermissionRule {
  const namespaced = namespacedSigners === true ? ['acmesigners'] : [];
  return {
    apiGroups: [ACME_GROUP],
    resources: ['acmeclustersigners', ...namespaced],
    verbs: READ,
  };
}

/** Returns permission to read ExternalClusterSigners. */
export function readExternalSigners(): PermissionRule {
  const { group, plural } = EXTERNAL_CLUSTER_SIGNERS;
  return { apiGroups: [group], resources: [plural], verbs: READ };
}

/**
 * Returns rules for all pods, since RBAC cannot select them and any may have a volume of a signer.
 * Services are watched.
 */
export function readPodsAndServices({
  podServices,
}: Pick<PermissionNames, 'podServices'>): readonly PermissionRule[] {
  if (podServices !== true) return [];
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    { apiGroups: [''], resources: ['services'], verbs: READ },
  ];
}

/**
 * Permission to read ClusterTrustBundles. Kubernetes grants it to every ServiceAccount
 * (`system:cluster-trust-bundle-discovery`). The roles list it for clusters that removed that role.
 */
export const READ_BUNDLES: PermissionRule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['clustertrustbundles'],
  verbs: READ,
};

/**
 * Returns verbs on ClusterTrustBundles of these names.
 *
 * @returns no rule without a name, because an empty `resourceNames` would mean every bundle
 */
export function onBundles(
  names: readonly string[],
  verbs: PermissionRule['verbs'],
): readonly PermissionRule[] {
  if (names.length === 0) return [];
  const { apiGroups, resources } = READ_BUNDLES;
  return [{ apiGroups, resources, resourceNames: names, verbs }];
}

/** Permission to read Revocations. */
export const READ_REVOCATIONS: PermissionRule = {
  apiGroups: ['countersign.dev'],
  resources: ['revocations'],
  verbs: READ,
};

/** Returns permission to read requests of a kind, and to update their subresource. */
export function onRequests(
  { group, plural }: { readonly group: string; readonly plural: string },
  subresource: 'status' | 'approval',
): readonly PermissionRule[] {
  return [
    { apiGroups: [group], resources: [plural], verbs: READ },
    { apiGroups: [group], resources: [`${plural}/${subresource}`], verbs: ['update'] },
  ];
}

/** Permission to record Events about objects of all namespaces. */
export const EVENTS_EVERYWHERE: PermissionRule = {
  apiGroups: ['events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch'],
};

/**
 * Permission to record Events about cluster-scoped objects, which the API server accepts in
 * `default` only (422 elsewhere).
 */
export const EVENTS_IN_DEFAULT: PermissionRule = {
  ...EVENTS_EVERYWHERE,
  namespace: 'default',
};

/**
 * Returns `verb` on each signer name, on every name of a selected domain, and on the derived names
 * of all Signers if they are served. `attest` excludes Signers, which publish no bundles. Without
 * names there is no rule, since empty resourceNames mean all.
 */
export function onSigners(
  { signerNames, signerDomains = [], namespacedSigners }: PermissionNames,
  verb: 'approve' | 'sign' | 'attest',
): readonly PermissionRule[] {
  const derived = namespacedSigners === true && verb !== 'attest' ? [EVERY_DERIVED_NAME] : [];
  const resourceNames = [...signerNames, ...signerDomains.map(everySignerOf), ...derived];
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
 * Returns `verbs` on the CA Secrets by name, one rule for each namespace. RBAC grants list and
 * watch of a named object for `fieldSelector=metadata.name=<name>` only.
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

/** Returns permission to read the CA Secrets of Signers. */
export function onSignerSecrets({
  signerSecrets = [],
}: PermissionNames): readonly PermissionRule[] {
  return onSecrets({ secrets: signerSecrets }, READ);
}

/**
 * Returns the permissions of every component that signs: read signers, bundles and requests, and
 * update the status of requests. Signers with CRLs add Revocations, which block requests.
 */
export function readToSign(
  names: PermissionNames,
  requests: { readonly group: string; readonly plural: string },
): readonly PermissionRule[] {
  const revocations = names.crls === true ? [READ_REVOCATIONS] : [];
  return [readSigners(names), READ_BUNDLES, ...onRequests(requests, 'status'), ...revocations];
}

/** Returns permission to read every CA Secret that a component signs with. */
export function onCaSecrets(names: PermissionNames): readonly PermissionRule[] {
  return [...onSecrets(names, READ), ...onSignerSecrets(names)];
}

/**
 * Returns permission to read the admission policies that a component relies on, by name, and those
 * of Leases if it uses Leases. It watches exactly these: `app/admission-watch.ts` takes the names
 * from this rule.
 */
export function readPolicies(
  { leases }: Pick<PermissionNames, 'leases'>,
  policies: readonly string[],
): PermissionRule {
  const ofLeases = leases === undefined ? [] : ['countersign-leases', 'countersign-leases-deleted'];
  return {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    resourceNames: [...policies, ...ofLeases],
    verbs: ['get'],
  };
}

const ON_LEASES = { apiGroups: [LEASES.group], resources: [LEASES.plural] } as const;

/**
 * Returns permissions for a Lease of each replica. It creates its own, watches those of its peers
 * and deletes stale ones. Their names derive from pods, so the rule has no resourceNames.
 */
export function onMemberLeases({ leases }: PermissionNames): readonly PermissionRule[] {
  if (leases === undefined) return [];
  const verbs = ['create', ...READ, 'update', 'delete'];
  return [{ ...ON_LEASES, verbs, namespace: leases.namespace }];
}

/**
 * Returns permissions for the leader's Lease by its name. `create` cannot be restricted to a name.
 */
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
