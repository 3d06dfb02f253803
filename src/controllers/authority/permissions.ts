// SPDX-License-Identifier: Apache-2.0
import {
  LEDGER_API_SERVICE,
  OWN_TLS_COMPONENTS,
  OWN_TLS_CONFIG_MAP,
  ownTlsSecret,
} from '../../api/signer/own-tls.ts';
import { LEASES } from '../../kube/lease/lease.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { crlConfigMapName } from '../../api/revocation/revocation.ts';
import { leaderLease } from '../../runtime/component/leases.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_REVOCATIONS,
  onSecrets,
  onSignerSecrets,
  readAcmeSigners,
  readPolicies,
  readSigners,
} from '../../runtime/rbac/rules.ts';

/**
 * The permissions of the authority's roles: it reads no request, and changes no bundle. It patches a Secret
 * and never replaces it: what others wrote into it stays. `create secrets` cannot be restricted by name,
 * which is why keys are in a namespace without ServiceAccounts and workloads of ours.
 */
export function permissions(names: PermissionNames): readonly PermissionRule[] {
  const { accountKeys = [] } = names;
  const made = [...names.secrets, ...accountKeys];
  const namespaces = [...new Set(made.map(({ namespace }) => namespace))];
  return [
    readSigners(names),
    READ_BUNDLES,
    {
      apiGroups: ['countersign.dev'],
      resources: statuses(names),
      verbs: ['update'],
    },
    ...namespaces.map((namespace) => ({
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['create'],
      namespace,
    })),
    ...onSecrets(names, ['get', 'list', 'watch', 'patch']),
    ...onSignerSecrets(names),
    EVENTS_IN_DEFAULT,
    readPolicies(names, policies(names)),
    ...onLeases(names),
    ...onOwnTls(names),
    ...onAccountKeys(names),
    ...onCrls(names),
  ];
}

/**
 * Its own Lease, and a look at those of all components, whose annotations say what each can serve: they are named after
 * pods.
 */
function onLeases({ leases }: PermissionNames): readonly PermissionRule[] {
  if (leases === undefined) return [];
  const { namespace, secretNamespaces } = leases;
  const onAll = { apiGroups: [LEASES.group], resources: [LEASES.plural], namespace };
  const resourceNames = secretNamespaces.map((each) => leaderLease('authority', each));
  return [
    { ...onAll, verbs: ['create', 'list', 'watch'] },
    { ...onAll, resourceNames, verbs: ['get', 'update'] },
  ];
}

/**
 * The policies that restrict who writes the specs that it follows and the statuses in which it keeps its
 * records.
 */
function policies({ namespacedSigners, crls }: PermissionNames): readonly string[] {
  return [
    'countersign-cluster-signers',
    'countersign-cluster-signer-secrets',
    'countersign-cluster-signer-status',
    ...(namespacedSigners === true ? ['countersign-signer-status'] : []),
    'countersign-authority-secrets',
    'countersign-authority-api-service',
    ...(crls === true ? ['countersign-authority-crls', 'countersign-revocations'] : []),
    'countersign-events',
  ];
}

function statuses({ namespacedSigners }: PermissionNames): readonly string[] {
  return ['clustersigners/status', ...(namespacedSigners === true ? ['signers/status'] : [])];
}

/**
 * Revocations and their status, and the ConfigMap of CRLs beside each CA Secret. `create configmaps` cannot be restricted
 * by name: a policy holds it to these names.
 */
function onCrls({ crls, secrets }: PermissionNames): readonly PermissionRule[] {
  if (crls !== true) return [];
  const byNamespace = Map.groupBy(secrets, ({ namespace }) => namespace);
  const core = { apiGroups: [''], resources: ['configmaps'] };
  return [
    READ_REVOCATIONS,
    { apiGroups: ['countersign.dev'], resources: ['revocations/status'], verbs: ['update'] },
    ...[...byNamespace].flatMap(([namespace, found]) => [
      { ...core, verbs: ['create'], namespace },
      {
        ...core,
        resourceNames: [...new Set(found.map(({ name }) => crlConfigMapName(name)))],
        verbs: ['get', 'list', 'watch', 'patch'],
        namespace,
      },
    ]),
  ];
}

/**
 * The Secrets of our own ports and the ConfigMap with their CA, in the components' namespace. We never create
 * them, because permission to create Secrets there can mint the components' tokens.
 */
function onOwnTls({ ownTls: namespace }: PermissionNames): readonly PermissionRule[] {
  if (namespace === undefined) return [];
  const verbs = ['get', 'list', 'watch', 'patch'];
  const core = { apiGroups: [''], verbs, namespace };
  return [
    { ...core, resources: ['secrets'], resourceNames: OWN_TLS_COMPONENTS.map(ownTlsSecret) },
    { ...core, resources: ['configmaps'], resourceNames: [OWN_TLS_CONFIG_MAP] },
    // Where there is a ledger; a policy holds it to `caBundle`.
    {
      apiGroups: ['apiregistration.k8s.io'],
      resources: ['apiservices'],
      resourceNames: [LEDGER_API_SERVICE],
      verbs,
    },
  ];
}

/** The account keys of AcmeClusterSigners, by name, where the installation has ACME. */
function onAccountKeys({ accountKeys }: PermissionNames): readonly PermissionRule[] {
  if (accountKeys === undefined) return [];
  return [
    readAcmeSigners({ namespacedSigners: false }),
    ...onSecrets({ secrets: accountKeys }, ['list', 'watch', 'patch']),
  ];
}
