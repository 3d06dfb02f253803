// SPDX-License-Identifier: Apache-2.0
import { LEDGER_API_SERVICE, OWN_TLS_CONFIG_MAP, ownTlsSecret } from '#api/signer/own-tls.ts';
import { LEASES } from '#kube/lease/lease.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import { hubSecretName } from '#api/signer/upstream-hub.ts';
import { upstreamNamespaces } from '#api/signer/upstream-issuer.ts';
import { leaderLease } from '#component/leases.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  READ_REVOCATIONS,
  onSecrets,
  onSignerSecrets,
  readAcmeSigners,
  readPolicies,
  readSigners,
} from '#component/rbac/rules.ts';

/**
 * Returns the permissions of the authority. It reads no request but its own for a CA, and changes
 * no bundle. It patches Secrets and never replaces them, so contents of other writers stay. RBAC
 * cannot restrict `create secrets` by name, so keys are in a namespace without our ServiceAccounts
 * and workloads.
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
    ...onUpstreams(names),
    ...onHubs(names),
  ];
}

/**
 * Returns rules for its own Lease and for reading the Leases of all components, whose annotations
 * report what each can serve. Those Leases are named after pods.
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
 * Returns the policies that restrict writers of the specs that it follows and of the statuses that
 * keep its records.
 */
function policies({ namespacedSigners, crls, aggregatedApi }: PermissionNames): readonly string[] {
  return [
    'countersign-cluster-signers',
    'countersign-cluster-signer-secrets',
    'countersign-cluster-signer-status',
    'countersign-cluster-signer-upstreams',
    'countersign-cluster-signer-vaults',
    ...(namespacedSigners === true ? ['countersign-signer-status'] : []),
    'countersign-authority-secrets',
    'countersign-authority-certificate-requests',
    ...(aggregatedApi === true ? ['countersign-authority-api-service'] : []),
    ...(crls === true ? ['countersign-authority-crls', 'countersign-revocations'] : []),
    'countersign-component-metadata',
    'countersign-events',
  ];
}

function statuses({ namespacedSigners }: PermissionNames): readonly string[] {
  return ['clustersigners/status', ...(namespacedSigners === true ? ['signers/status'] : [])];
}

/**
 * Returns rules for Revocations, their status, and the ConfigMap of CRLs beside each CA Secret.
 * RBAC cannot restrict `create configmaps` by name, so a policy restricts it to these names.
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
 * Returns rules for the CertificateRequests of upstream issuers, in the namespaces that the
 * installation lists. RBAC cannot restrict `create` by name, and names derive from keys, so a
 * policy restricts it to the listed issuers.
 */
function onUpstreams({ upstreamIssuers = [] }: PermissionNames): readonly PermissionRule[] {
  const { group, plural } = CERTIFICATE_REQUEST_RESOURCE;
  return upstreamNamespaces(upstreamIssuers).map((namespace) => ({
    apiGroups: [group],
    resources: [plural],
    verbs: ['create', 'get'],
    namespace,
  }));
}

/**
 * Returns rules for the credentials of hubs, beside the CA Secrets. `authority` reads them, and
 * writes a renewed token.
 */
function onHubs({ secrets }: PermissionNames): readonly PermissionRule[] {
  const beside = secrets.map((each) => ({ ...each, name: hubSecretName(each.name) }));
  return onSecrets({ secrets: beside }, ['get', 'patch']);
}

/**
 * Returns rules for the Secrets of our own ports and the ConfigMap with their CA, in the
 * components' namespace. The installer creates them: permission to create Secrets there could mint
 * the components' tokens.
 */
function onOwnTls({ ownTls, aggregatedApi }: PermissionNames): readonly PermissionRule[] {
  if (ownTls === undefined) return [];
  const { namespace, components } = ownTls;
  const verbs = ['get', 'list', 'watch', 'patch'];
  const core = { apiGroups: [''], verbs, namespace };
  return [
    { ...core, resources: ['secrets'], resourceNames: components.map(ownTlsSecret) },
    { ...core, resources: ['configmaps'], resourceNames: [OWN_TLS_CONFIG_MAP] },
    ...(aggregatedApi === true ? [{ ...ON_API_SERVICE, verbs }] : []),
  ];
}

/** A policy restricts its writes to `caBundle`. */
const ON_API_SERVICE = {
  apiGroups: ['apiregistration.k8s.io'],
  resources: ['apiservices'],
  resourceNames: [LEDGER_API_SERVICE],
};

/**
 * Returns rules for the account keys of AcmeClusterSigners, by name, if the installation has ACME.
 */
function onAccountKeys({ accountKeys }: PermissionNames): readonly PermissionRule[] {
  if (accountKeys === undefined) return [];
  return [
    readAcmeSigners({ namespacedSigners: false }),
    ...onSecrets({ secrets: accountKeys }, ['list', 'watch', 'patch']),
  ];
}
