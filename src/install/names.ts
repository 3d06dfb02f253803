// SPDX-License-Identifier: Apache-2.0
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import {
  DEFAULT_SECRET_NAMESPACE,
  OWN_TLS_BUNDLE,
  OWN_TLS_CA_SECRET,
} from '#api/signer/own-tls.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import type { ComponentDescriptor } from '#component/descriptor.ts';
import { COMPONENTS } from './component-list.ts';
import type { Installation, ServedNames } from './installation.ts';

/** Labels of every object of Countersign. */
export const LABELS = { [LABEL_NAME]: 'countersign' } as const;

/** Returns the labels of one component's objects. Its Deployment selects its pods by them. */
export function labelsOf(component: string): Readonly<Record<string, string>> {
  return { ...LABELS, [LABEL_COMPONENT]: component };
}

/**
 * Returns the namespaces of CA Secrets, without duplicates, or that of the installation if no
 * Secret is named.
 */
function secretNamespacesOf({
  secrets,
  keysNamespace = DEFAULT_SECRET_NAMESPACE,
}: Pick<Installation, 'secrets' | 'keysNamespace'>): readonly string[] {
  const places = new Set(secrets.map((each) => each.namespace));
  return places.size > 0 ? [...places] : [keysNamespace];
}

/** Returns the names of `acme`. It reads no CA key, not even that of a Signer. */
function acmeNamesOf(
  { acme, namespacedSigners = false, namespace }: Installation,
  secretNamespaces: readonly string[],
): PermissionNames {
  const { signers = [], secrets = [], accountKeys = [], renewCertificates = false } = acme ?? {};
  const leases = { namespace, secretNamespaces };
  const all = [...accountKeys, ...secrets];
  const renews = renewCertificates ? { renewsCertificates: true } : {};
  return { signerNames: signers, bundles: [], secrets: all, namespacedSigners, leases, ...renews };
}

/** Returns the namespace of the keys that an installation does not list. */
export function keysNamespaceOf(
  installation: Pick<Installation, 'secrets' | 'keysNamespace'>,
): string {
  return secretNamespacesOf(installation)[0] ?? DEFAULT_SECRET_NAMESPACE;
}

/** Returns the names of optional components. */
function optionalNamesOf({
  solverSecrets = [],
  dnsWebhooks = [],
  refreshSecrets = [],
  monitoredSecrets = [],
  federated = [],
}: Installation): Pick<
  PermissionNames,
  'solverSecrets' | 'dnsWebhooks' | 'refreshSecrets' | 'monitoredSecrets' | 'federated'
> {
  return { solverSecrets, dnsWebhooks, refreshSecrets, monitoredSecrets, federated };
}

function domainsOf({ signerDomains = [] }: Installation): Pick<PermissionNames, 'signerDomains'> {
  return { signerDomains };
}

function caBundlesOf({ caBundles = [] }: Installation): Pick<PermissionNames, 'caBundles'> {
  return { caBundles };
}

function upstreamsOf({
  upstreamIssuers = [],
}: Installation): Pick<PermissionNames, 'upstreamIssuers'> {
  return { upstreamIssuers };
}

/** Returns the signer names of other kinds for a component that approves by their rules. */
function approvedOf(
  { approvesAcme = false, approvesExternal = false }: Partial<ComponentDescriptor>,
  { acme, external }: Installation,
): readonly string[] {
  return [
    ...(approvesAcme ? (acme?.signers ?? []) : []),
    ...(approvesExternal ? (external?.signers ?? []) : []),
  ];
}

/** Returns the names of `external-signer`. It reads no Secret. */
function externalNamesOf(
  { external, namespace, podServices = false }: Installation,
  secretNamespaces: readonly string[],
): PermissionNames {
  const signerNames = external?.signers ?? [];
  const leases = { namespace, secretNamespaces };
  return { signerNames, bundles: [], secrets: [], podServices, leases };
}

/** Returns the signers whose requests a component answers, with the Secrets of their CAs. */
function servedBy(
  { servedKind }: Partial<ComponentDescriptor>,
  { served, signers, secrets }: Installation,
): ServedNames {
  const ofKind = servedKind === undefined ? undefined : served?.[servedKind];
  return ofKind ?? { signers, secrets };
}

/** Returns the names that the roles of a component list. */
export function permissionNamesOf(
  description: Partial<ComponentDescriptor>,
  installation: Installation,
): PermissionNames {
  const secretNamespaces = secretNamespacesOf(installation);
  if (description.servesAcme === true) return acmeNamesOf(installation, secretNamespaces);
  if (description.servesExternal === true) return externalNamesOf(installation, secretNamespaces);
  return clusterSignerNamesOf(description, installation);
}

/** Returns the names of a component whose signers are ClusterSigners and Signers. */
function clusterSignerNamesOf(
  description: Partial<ComponentDescriptor>,
  installation: Installation,
): PermissionNames {
  const { servesOwnTls = false, servesNamespacedSigners = false } = description;
  const { bundles, namespace, servingSigner } = installation;
  const { signers, secrets } = servedBy(description, installation);
  const { namespacedSigners = false, signerSecrets = [] } = installation;
  const secretNamespaces = secretNamespacesOf(installation);
  // A namespaced Signer publishes no bundle.
  const ofNamespaces = servesNamespacedSigners ? { namespacedSigners, signerSecrets } : {};
  const signerNames = [...signers, ...approvedOf(description, installation)];
  const names = {
    signerNames,
    ...domainsOf(installation),
    bundles,
    secrets,
    crls: true,
    podServices: installation.podServices === true,
    notifiedPods: installation.notifiedPods === true,
    ledgerFacts: installation.ledgerFacts === true,
    aggregatedApi: installation.aggregatedApi === true,
    ...optionalNamesOf(installation),
    ...ofNamespaces,
  };
  const leases = { namespace, secretNamespaces };
  if (!servesOwnTls) return { ...names, leases };
  const servingBundle = bundleName(servingSigner, OWN_TLS_BUNDLE);
  return {
    ...ofNamespaces,
    leases,
    crls: true,
    aggregatedApi: installation.aggregatedApi === true,
    ...caBundlesOf(installation),
    ...upstreamsOf(installation),
    ownTls: { namespace, components: [...COMPONENTS.keys()] },
    accountKeys: installation.acme && (installation.acme.accountKeys ?? []),
    signerNames: [...new Set([...signers, servingSigner])],
    ...domainsOf(installation),
    bundles: [...new Set([...bundles, servingBundle])],
    secrets: [
      ...secrets,
      ...secretNamespaces.map((each) => ({ namespace: each, name: OWN_TLS_CA_SECRET })),
    ],
  };
}
