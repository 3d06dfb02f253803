// SPDX-License-Identifier: Apache-2.0
/** The ConfigMaps that give bundles to programs that cannot mount a ClusterTrustBundle. */

/** Label of a namespace that opts in. */
export const TRUST = 'countersign.dev/trust';

/** Value of the label. */
export const TRUST_OPTED_IN = 'enabled';

/** Value of the label of a namespace that also wants a Java truststore. */
export const TRUST_WITH_STORE = 'pkcs12';

/** Key in `data`, with PEM. */
export const TRUST_KEY = 'ca.crt';

/** Key in `binaryData`, with a PKCS#12 file. */
export const TRUST_STORE_KEY = 'truststore.p12';

/**
 * Returns the name of a bundle's ConfigMap, in every namespace: `example.com.workload.primary` for
 * `example.com:workload:primary`.
 */
export function trustConfigMapName(bundle: string): string {
  return bundle.replaceAll(':', '.');
}
