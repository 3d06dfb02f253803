// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of the components' HTTPS ports. The manifests create the Secrets and the ConfigMap
 * empty, and `authority` only fills them: a component that may create Secrets beside
 * ServiceAccounts can mint their tokens. They have no data, so applying them again keeps what was
 * filled in.
 */
import {
  FILLED_BY,
  OWN_TLS_BUNDLE,
  OWN_TLS_CA_SECRET,
  OWN_TLS_CONFIG_MAP,
  ownTlsSecret,
} from '#api/signer/own-tls.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';

/**
 * Returns a Service and a Secret for each enabled component, and the ConfigMap with the CA for
 * scrapers.
 */
export function ownTls(plan: InstallationPlan): readonly Manifest[] {
  return ownTlsOf(plan, [...plan.components.keys()]);
}

/** Returns the same for these components. */
export function ownTlsOf(
  { installation }: Pick<InstallationPlan, 'installation'>,
  components: readonly string[],
): readonly Manifest[] {
  const { namespace, servingSigner } = installation;
  const annotations = { [FILLED_BY]: servingSigner };
  return [
    ...components.map((each) => service(each, namespace)),
    ...components.map((each) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: ownTlsSecret(each), namespace, labels: labelsOf(each), annotations },
      type: 'Opaque',
    })),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: OWN_TLS_CONFIG_MAP, namespace, labels: LABELS, annotations },
    },
  ];
}

function service(component: string, namespace: string): Manifest {
  const labels = labelsOf(component);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `countersign-${component}`, namespace, labels },
    spec: {
      // Scrapers need the address of each replica, in one IP family: with two they would scrape
      // each replica twice.
      clusterIP: 'None',
      // Scrapers most need a replica that is not ready.
      publishNotReadyAddresses: true,
      selector: labels,
      ports: [{ name: 'https', port: 8443, targetPort: 'https' }],
    },
  };
}

/**
 * Returns the ClusterSigner whose managed CA signs the certificates of these ports. No user can
 * request one: its spec has neither pods nor requests.
 */
export function servingSigner({ installation, keysNamespace }: InstallationPlan): Manifest {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name: 'serving' },
    spec: {
      signerName: installation.servingSigner,
      authority: {
        managed: {
          secret: { namespace: keysNamespace, name: OWN_TLS_CA_SECRET },
          keyType: 'ECDSAP256',
          commonName: 'Countersign serving CA',
          duration: '8760h',
        },
      },
      profile: {
        // `authority` uses the first key type and the longest duration.
        keyTypes: ['ECDSAP256'],
        usages: ['digital signature', 'server auth'],
        maxDuration: '168h',
        backdate: '4m',
      },
      trustBundle: { name: OWN_TLS_BUNDLE },
    },
  };
}
