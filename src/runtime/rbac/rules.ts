// SPDX-License-Identifier: Apache-2.0
/** Rules that the roles of several components share; each `permissions.ts` puts its own together. */
import { ACME_GROUP } from '../../api/acme/index.ts';
import { EVERY_DERIVED_NAME } from '../../api/signer/signer.ts';
import { LEASES } from '../../kube/lease/lease.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { leaderLease } from '../component/leases.ts';
import type { PermissionNames } from './permission-names.ts';

const READ = ['get', 'list', 'watch'] as const;

/** Reading ClusterSigners. */
export const READ_CLUSTER_SIGNERS: PermissionRule = {
  apiGroups: ['countersign.dev'],
  resources: ['clustersigners'],
  verbs: READ,
};

/** Reading ClusterSigners, and Signers if they are served. */
export function readSigners({ namespacedSigners }: PermissionNames): PermissionRule {
  const { resources } = READ_CLUSTER_SIGNERS;
  return namespacedSigners === true
    ? { ...READ_CLUSTER_SIGNERS, resources: [...resources, 'signers'] }
    : READ_CLUSTER_SIGNERS;
}

/** Reading AcmeClusterSigners, and AcmeSigners if they are served. Where the kinds are not installed it allows nothing. */
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

/**
 * Reading ClusterTrustBundles. Kubernetes grants this to every ServiceAccount
 * (`system:cluster-trust-bundle-discovery`); our roles list it too, for clusters that removed that role.
 */
export const READ_BUNDLES: PermissionRule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['clustertrustbundles'],
  verbs: READ,
};

/**
 * Verbs on ClusterTrustBundles of these names.
 *
 * @returns no rule without a name: an empty `resourceNames` would mean every bundle
 */
export function onBundles(
  names: readonly string[],
  verbs: PermissionRule['verbs'],
): readonly PermissionRule[] {
  if (names.length === 0) return [];
  const { apiGroups, resources } = READ_BUNDLES;
  return [{ apiGroups, resources, resourceNames: names, verbs }];
}

/** Reading Revocations. */
export const READ_REVOCATIONS: PermissionRule = {
  apiGroups: ['countersign.dev'],
  resources: ['revocations'],
  verbs: READ,
};

/** Reading requests of a kind, and updating their subresource. */
export function onRequests(
  { group, plural }: { readonly group: string; readonly plural: string },
  subresource: 'status' | 'approval',
): readonly PermissionRule[] {
  return [
    { apiGroups: [group], resources: [plural], verbs: READ },
    { apiGroups: [group], resources: [`${plural}/${subresource}`], verbs: ['update'] },
  ];
}

/** Recording Events about objects of all namespaces. */
export const EVENTS_EVERYWHERE: PermissionRule = {
  apiGroups: ['events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch'],
};

/** Recording Events about cluster-scoped objects, which the API server accepts in `default` only (422 elsewhere). */
export const EVENTS_IN_DEFAULT: PermissionRule = {
  ...EVENTS_EVERYWHERE,
  namespace: 'default',
};

/**
 * `verb` on each signer name, and on the derived names of all Signers if they are served, except `attest`:
 * Signers publish no bundles. No rule at all without names, since empty resourceNames mean all.
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
 * `verbs` on the CA Secrets, by name, one rule for each namespace. RBAC grants list and watch of a named
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

/** Reading the CA Secrets of Signers. */
export function onSignerSecrets({
  signerSecrets = [],
}: PermissionNames): readonly PermissionRule[] {
  return onSecrets({ secrets: signerSecrets }, READ);
}

/**
 * Reading signers, bundles and requests, and updating the status of requests: for every component that signs. And reading
 * Revocations where signers have CRLs, since those refuse requests.
 */
export function readToSign(
  names: PermissionNames,
  requests: { readonly group: string; readonly plural: string },
): readonly PermissionRule[] {
  const revocations = names.crls === true ? [READ_REVOCATIONS] : [];
  return [readSigners(names), READ_BUNDLES, ...onRequests(requests, 'status'), ...revocations];
}

/** Reading every CA Secret that a component signs with. */
export function onCaSecrets(names: PermissionNames): readonly PermissionRule[] {
  return [...onSecrets(names, READ), ...onSignerSecrets(names)];
}

/**
 * Reading the admission policies that a component relies on, by name, and those of Leases if it uses Leases.
 * It watches exactly these: `app/admission-watch.ts` takes the names from this rule.
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
 * A Lease for each replica: it creates its own, watches those of its peers and deletes stale ones. They are
 * named after pods, so the rule has no resourceNames.
 */
export function onMemberLeases({ leases }: PermissionNames): readonly PermissionRule[] {
  if (leases === undefined) return [];
  const verbs = ['create', ...READ, 'update', 'delete'];
  return [{ ...ON_LEASES, verbs, namespace: leases.namespace }];
}

/** The Lease of the leader, by its name; `create` cannot be restricted to a name. */
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
