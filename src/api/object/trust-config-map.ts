// SPDX-License-Identifier: Apache-2.0
/** The ConfigMaps by which trust reaches programs that no ClusterTrustBundle reaches: the bundle's text in a fixed place. */

/** The label of a namespace that wants them. */
export const TRUST = 'countersign.dev/trust';

/** The value of the label. */
export const TRUST_OPTED_IN = 'enabled';

/** The key in `data`, in PEM. */
export const TRUST_KEY = 'ca.crt';

/** The name of a bundle's ConfigMap, in every namespace: `example.com.workload.primary` of `example.com:workload:primary`. */
export function trustConfigMapName(bundle: string): string {
  return bundle.replaceAll(':', '.');
}
