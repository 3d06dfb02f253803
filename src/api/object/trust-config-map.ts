// SPDX-License-Identifier: Apache-2.0
/** The ConfigMaps by which trust reaches programs that no ClusterTrustBundle reaches: the bundle's text in a fixed place. */

/** The label of a namespace that wants them. */
export const TRUST = 'countersign.dev/trust';

/** The value of the label. */
export const TRUST_OPTED_IN = 'enabled';

/** The value of the label of a namespace that wants a truststore of Java as well. */
export const TRUST_WITH_STORE = 'pkcs12';

/** The key in `data`, in PEM. */
export const TRUST_KEY = 'ca.crt';

/** The key in `binaryData`, a PKCS#12 file. */
export const TRUST_STORE_KEY = 'truststore.p12';

/** The name of a bundle's ConfigMap, in every namespace: `example.com.workload.primary` of `example.com:workload:primary`. */
export function trustConfigMapName(bundle: string): string {
  return bundle.replaceAll(':', '.');
}
