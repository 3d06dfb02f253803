// SPDX-License-Identifier: Apache-2.0
/**
 * The certificates of our own HTTPS ports: which signer signs them, and which objects hold them. An
 * administrator creates these objects, empty, with the manifests; `authority` fills them.
 */

/** The default signer name whose CA signs them. It answers no requests. */
export const OWN_TLS_SIGNER = 'countersign.dev/serving';

/** The name of that CA's Secret, in the namespace of all keys, and of its bundle. */
export const OWN_TLS_CA_SECRET = 'countersign-serving-ca';
export const OWN_TLS_BUNDLE = 'primary';

/** The ConfigMap in the namespace of the components with the CA (`ca.crt`), for metrics scrapers. */
export const OWN_TLS_CONFIG_MAP = 'countersign-serving-ca';

/** The components that have a port, and a Service for it. */
export const OWN_TLS_COMPONENTS = [
  'approver',
  'signer',
  'pcr-issuer',
  'certificate-request',
  'attester',
  'authority',
  'acme',
  'acme-responder',
  'acme-solver',
  'pod-refresher',
  'ledger',
  'trust-distributor',
  'bundle-endpoint',
  'federation',
  'notifier',
] as const;

/** The Service by which components reach the ledger's own port. */
export const LEDGER_SERVICE = 'countersign-ledger-api';

/** The aggregated API by which people read the ledger: `records` and `logs` are no objects of etcd. */
export const LEDGER_API = { group: 'ledger.countersign.dev', version: 'v1alpha1' } as const;

/** The APIService that leads to it: `authority` keeps its `caBundle`. */
export const LEDGER_API_SERVICE = `${LEDGER_API.version}.${LEDGER_API.group}`;

/** On the Secrets, the ConfigMap and the APIService, the signer name: the owner's consent that `authority` fills them. */
export const FILLED_BY = 'countersign.dev/filled-by';

/** The Secret (`tls.crt`, `tls.key`) that a component mounts, in its own namespace. */
export function ownTlsSecret(component: string): string {
  return `${serviceOf(component)}-serving`;
}

/**
 * The DNS names of a component's port. The second has the default cluster domain; in a cluster with
 * another domain, it resolves to nothing.
 */
export function ownTlsNames(component: string, namespace: string): readonly string[] {
  const services = [serviceOf(component), ...(component === 'ledger' ? [LEDGER_SERVICE] : [])];
  return services.flatMap((service) => {
    const name = `${service}.${namespace}.svc`;
    return [name, `${name}.cluster.local`];
  });
}

function serviceOf(component: string): string {
  return `countersign-${component}`;
}

/** The default namespace of CA Secrets. It holds keys only: no workload runs there. */
export const DEFAULT_SECRET_NAMESPACE = 'countersign-keys';
