// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '../api/object/cluster-trust-bundle.ts';
import {
  DEFAULT_SECRET_NAMESPACE,
  OWN_TLS_BUNDLE,
  OWN_TLS_CA_SECRET,
} from '../api/signer/own-tls.ts';
import type { PermissionNames } from '../runtime/rbac/permission-names.ts';
import type { ComponentDescription } from './components/description.ts';
import type { Installation } from './installation.ts';

/** The keys of our labels: whose an object is, and which component's. */
export const LABEL_NAME = 'app.kubernetes.io/name';
export const LABEL_COMPONENT = 'app.kubernetes.io/component';

/** Labels of every object of ours. */
export const LABELS = { [LABEL_NAME]: 'countersign' } as const;

/** Labels of the objects of one component; its Deployment selects its pods by them. */
export function labelsOf(component: string): Readonly<Record<string, string>> {
  return { ...LABELS, [LABEL_COMPONENT]: component };
}

/** The namespaces of CA Secrets, without doubles; the default one when no Secret is named. */
function secretNamespacesOf({ secrets }: Pick<Installation, 'secrets'>): readonly string[] {
  const places = new Set(secrets.map((each) => each.namespace));
  return places.size > 0 ? [...places] : [DEFAULT_SECRET_NAMESPACE];
}

/** Of `acme`: it reads no CA key, also none of a Signer. */
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

/** The namespace of the keys that an installation does not name one by one. */
export function keysNamespaceOf(installation: Pick<Installation, 'secrets'>): string {
  return secretNamespacesOf(installation)[0] ?? DEFAULT_SECRET_NAMESPACE;
}

/** What components that can be left out are named. */
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

function caBundlesOf({ caBundles = [] }: Installation): Pick<PermissionNames, 'caBundles'> {
  return { caBundles };
}

/** Signer names of ACME signers, for who approves by their rules. */
function approvedOf(
  { approvesAcme = false }: Partial<ComponentDescription>,
  { acme }: Installation,
): readonly string[] {
  return approvesAcme ? (acme?.signers ?? []) : [];
}

/** The names that the roles of a component spell out. */
export function permissionNamesOf(
  description: Partial<ComponentDescription>,
  installation: Installation,
): PermissionNames {
  const { servesOwnTls = false, servesNamespacedSigners = false } = description;
  const { signers, bundles, secrets, namespace, servingSigner } = installation;
  const { namespacedSigners = false, signerSecrets = [] } = installation;
  const secretNamespaces = secretNamespacesOf(installation);
  // A namespaced Signer publishes no bundle.
  const ofNamespaces = servesNamespacedSigners ? { namespacedSigners, signerSecrets } : {};
  if (description.servesAcme === true) return acmeNamesOf(installation, secretNamespaces);
  const signerNames = [...signers, ...approvedOf(description, installation)];
  const names = {
    signerNames,
    bundles,
    secrets,
    crls: true,
    podServices: installation.podServices === true,
    notifiedPods: installation.notifiedPods === true,
    ledgerFacts: installation.ledgerFacts === true,
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
    ...caBundlesOf(installation),
    ownTls: namespace,
    accountKeys: installation.acme && (installation.acme.accountKeys ?? []),
    signerNames: [...new Set([...signers, servingSigner])],
    bundles: [...new Set([...bundles, servingBundle])],
    secrets: [
      ...secrets,
      ...secretNamespaces.map((each) => ({ namespace: each, name: OWN_TLS_CA_SECRET })),
    ],
  };
}
