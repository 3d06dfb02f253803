// SPDX-License-Identifier: Apache-2.0
/**
 * The certificates of the components' HTTPS ports: their signer and the objects that hold them. An
 * administrator creates these objects, empty, with the manifests. `authority` fills them.
 */

/** The default signer name whose CA signs them. It answers no requests. */
export const OWN_TLS_SIGNER = 'countersign.dev/serving';

/** The name of that CA's Secret, in the namespace of all keys, and of its bundle. */
export const OWN_TLS_CA_SECRET = 'countersign-serving-ca';
export const OWN_TLS_BUNDLE = 'primary';

/**
 * The ConfigMap in the namespace of the components with the CA (`ca.crt`), for metrics scrapers.
 */
export const OWN_TLS_CONFIG_MAP = 'countersign-serving-ca';

/** The Service by which components reach the ledger's own port. */
export const LEDGER_SERVICE = 'countersign-ledger-api';

/**
 * Name of that Service in the path by which the API server forwards requests to it, over TLS
 * (`services/proxy`).
 */
export const LEDGER_PROXY_NAME = `https:${LEDGER_SERVICE}:443`;

/** The API by which users read the ledger. Its `records` and `logs` are not stored in etcd. */
export const LEDGER_API = { group: 'ledger.countersign.dev', version: 'v1alpha1' } as const;

/**
 * Signer name of the CertificateSigningRequests by which users authenticate to the ledger. No
 * signer serves it, so no certificate is issued for them.
 */
export const READER_SIGNER = `${LEDGER_API.group}/reader`;

/** The APIService of the aggregated API. `authority` maintains its `caBundle`. */
export const LEDGER_API_SERVICE = `${LEDGER_API.version}.${LEDGER_API.group}`;

/**
 * Annotation of the Secrets, the ConfigMap and the APIService: the signer name. It is the owner's
 * consent that `authority` fills them.
 */
export const FILLED_BY = 'countersign.dev/filled-by';

/**
 * Returns the name of the Secret (`tls.crt`, `tls.key`) that a component mounts, in its own
 * namespace.
 */
export function ownTlsSecret(component: string): string {
  return `${serviceOf(component)}-serving`;
}

/**
 * Returns the DNS names of a component's port. The second has the default cluster domain. In a
 * cluster with another domain, it does not resolve.
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
