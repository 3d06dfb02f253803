// SPDX-License-Identifier: Apache-2.0
/**
 * The certificates of our own HTTPS ports: who signs them, and in which objects they lie. All of
 * these are made by an administrator, empty, with the manifests: `authority` fills them in.
 */

/** The signer name whose CA signs them, where no flag says otherwise. Nobody can ask it for more. */
export const OWN_TLS_SIGNER = 'countersign.dev/serving';

/** The Secret of that CA, beside the other keys, and the name of its bundle. */
export const OWN_TLS_CA_SECRET = 'countersign-serving-ca';
export const OWN_TLS_BUNDLE = 'primary';

/** The ConfigMap beside the components that whoever scrapes them reads the CA from: `ca.crt`. */
export const OWN_TLS_CONFIG_MAP = 'countersign-serving-ca';

/** Whoever has a port, and a Service for it. */
export const OWN_TLS_COMPONENTS = [
  'approver',
  'signer',
  'pcr-issuer',
  'certificate-request',
  'attester',
  'authority',
] as const;

/** On the Secrets and the ConfigMap, the signer name: its owner lets `authority` fill it in. */
export const FILLED_BY = 'countersign.dev/filled-by';

/** The `kubernetes.io/tls`-like Secret that a component mounts, beside it. */
export function ownTlsSecret(component: string): string {
  return `${serviceOf(component)}-serving`;
}

/**
 * What a component's port is called in the cluster's DNS. With the default of the cluster's domain:
 * in another cluster the second name is nobody's.
 */
export function ownTlsNames(component: string, namespace: string): readonly string[] {
  const name = `${serviceOf(component)}.${namespace}.svc`;
  return [name, `${name}.cluster.local`];
}

function serviceOf(component: string): string {
  return `countersign-${component}`;
}

/** Namespace of CA Secrets unless a flag names another. It holds keys only: no workload runs there. */
export const DEFAULT_SECRET_NAMESPACE = 'countersign-keys';
