// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';

/**
 * Refuses what the operator's own role cannot bound: a kubelet asks any signer for the certificate of a pod. The flags that say
 * what `bundle-endpoint` serves are in the danger zone, too.
 *
 * @param dangerZone - whether an administrator lets the writer say by which signer it proves itself
 */
export function refuseBundleEndpoint(
  { bundleEndpoint = {} }: Pick<CountersignSpec, 'bundleEndpoint'>,
  dangerZone: boolean,
): Refusal | undefined {
  const { svidSigner = '' } = bundleEndpoint;
  if (dangerZone || svidSigner === '') return undefined;
  const message =
    'spec.bundleEndpoint.svidSigner: it decides who our bundle endpoint is for other trust domains; an administrator adds --allow-danger-zone to the operator’s flags';
  return { reason: 'DangerZoneNotAllowed', message };
}
