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
  const { signers = [], secrets = [] } = acme ?? {};
  const leases = { namespace, secretNamespaces };
  return { signerNames: signers, bundles: [], secrets, namespacedSigners, leases };
}

/** The names that the roles of a component spell out. */
export function permissionNamesOf(
  description: Partial<ComponentDescription>,
  installation: Installation,
): PermissionNames {
  const { servesOwnTls = false, servesNamespacedSigners = false } = description;
  const { signers, bundles, secrets, namespace, servingSigner } = installation;
  const { namespacedSigners = false, signerSecrets = [] } = installation;
  const { solverSecrets = [], dnsWebhooks = [], refreshSecrets = [] } = installation;
  const secretNamespaces = secretNamespacesOf(installation);
  // A namespaced Signer publishes no bundle.
  const ofNamespaces = servesNamespacedSigners ? { namespacedSigners, signerSecrets } : {};
  if (description.servesAcme === true) return acmeNamesOf(installation, secretNamespaces);
  const ofOptional = { solverSecrets, dnsWebhooks, refreshSecrets };
  const names = { signerNames: signers, bundles, secrets, ...ofOptional, ...ofNamespaces };
  const leases = { namespace, secretNamespaces };
  if (!servesOwnTls) return { ...names, leases };
  const servingBundle = bundleName(servingSigner, OWN_TLS_BUNDLE);
  return {
    ...ofNamespaces,
    leases,
    ownTls: namespace,
    signerNames: [...new Set([...signers, servingSigner])],
    bundles: [...new Set([...bundles, servingBundle])],
    secrets: [
      ...secrets,
      ...secretNamespaces.map((each) => ({ namespace: each, name: OWN_TLS_CA_SECRET })),
    ],
  };
}
