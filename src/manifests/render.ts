// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';
import { bundleName } from '../api/object/cluster-trust-bundle.ts';
import {
  DEFAULT_SECRET_NAMESPACE,
  OWN_TLS_BUNDLE,
  OWN_TLS_CA_SECRET,
} from '../api/signer/own-tls.ts';
import type { PermissionNames } from '../runtime/rbac/permission-names.ts';
import {
  whoCreatesPodCertificateRequests,
  whoMayRequest,
  whoWritesClusterSignerStatus,
  whoWritesClusterSigners,
  whoWritesSignerStatus,
} from './admission.ts';
import { whoAsksByCertificateRequests } from './certificate-request-admission.ts';
import {
  whichBundlesTheAttesterWrites,
  whichRequestsAreAnswered,
  whichSecretsTheAuthorityMakes,
} from './component-admission.ts';
import { COMPONENT_PERMISSIONS } from './components.ts';
import { checkInstallation, type Installation } from './installation.ts';
import { whoWritesLeases } from './lease-admission.ts';
import { roleManifests, type Manifest } from './roles.ts';

/** The opt-in policy file: once applied, each requester needs the verb `request`. */
export const OPT_IN = 'who-may-request.yaml';

/** File name → YAML. */
export type Files = ReadonlyMap<string, string>;

const HEADER =
  '# SPDX-License-Identifier: Apache-2.0\n# Printed by countersign rbac. Names are spelled out: print it again for other names.\n';

/**
 * One file for each component: its ServiceAccount, roles and bindings.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderRbac(installation: Installation): Files {
  const checked = checkInstallation(installation);
  return new Map(
    [...COMPONENT_PERMISSIONS].map(([component, permissions]) => [
      `${component}.yaml`,
      text(roleManifests(component, checked.namespace, permissions(namesOf(component, checked)))),
    ]),
  );
}

/** The components that need the CA of our own ports. The others neither sign with it nor read its key. */
const OF_OWN_TLS = ['attester', 'authority'];

function namesOf(component: string, installation: Installation): PermissionNames {
  const { signers, bundles, secrets, namespace, servingSigner } = installation;
  const places = new Set(secrets.map((each) => each.namespace));
  const secretNamespaces = places.size > 0 ? [...places] : [DEFAULT_SECRET_NAMESPACE];
  const { namespacedSigners = false, signerSecrets = [] } = installation;
  // A namespaced Signer publishes no bundle.
  const ofNamespaces = component === 'attester' ? {} : { namespacedSigners, signerSecrets };
  const names = { signerNames: signers, bundles, secrets, ...ofNamespaces };
  const leases = { namespace, secretNamespaces };
  if (!OF_OWN_TLS.includes(component)) return { ...names, leases };
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

/**
 * The admission policies; who-may-request.yaml is opt-in.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderAdmission(installation: Installation): Files {
  const { signers, namespacedSigners = false, namespace } = checkInstallation(installation);
  const guarded = { signers, namespacedSigners };
  const writers = [
    ...whoWritesClusterSigners(),
    ...whoWritesClusterSignerStatus(namespace),
    ...whoWritesSignerStatus(namespace),
  ];
  return new Map([
    ['pod-certificate-requests.yaml', text(whoCreatesPodCertificateRequests(guarded))],
    ['cluster-signers.yaml', text(writers)],
    ['certificate-requests.yaml', text(whoAsksByCertificateRequests())],
    ['components.yaml', text(onComponents(installation))],
    ['leases.yaml', text(whoWritesLeases(namespace))],
    [OPT_IN, text(whoMayRequest(guarded))],
  ]);
}

/** What holds the components to the names of this installation. */
function onComponents(installation: Installation): readonly Manifest[] {
  // Both hold the names behind our own ports as well.
  const { signerNames, bundles, secrets } = namesOf('authority', installation);
  const { namespace } = installation;
  const names = { namespace, signers: signerNames, bundles, secrets };
  return [
    ...whichBundlesTheAttesterWrites(names),
    ...whichRequestsAreAnswered(namespace),
    ...whichSecretsTheAuthorityMakes(names),
  ];
}

function text(manifests: readonly Manifest[]): string {
  return HEADER + documentsOf(manifests);
}

/** Several YAML documents, formatted as Prettier would: unfolded lines, single quotes. */
export function documentsOf(manifests: readonly Manifest[]): string {
  const documents = manifests.map((manifest) =>
    stringify(manifest, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false }),
  );
  return documents.join('---\n');
}
