// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import * as messages from './messages.ts';

/**
 * Rejects settings that the operator's own role cannot bound: a kubelet requests a pod's
 * certificate from any signer. The flags for the bundles that `bundle-endpoint` serves are in the
 * danger zone, too.
 *
 * @param dangerZone - the administrator lets the writer choose the signer of its certificate
 */
export function refuseBundleEndpoint(
  { bundleEndpoint = {} }: Pick<CountersignSpec, 'bundleEndpoint'>,
  dangerZone: boolean,
): Refusal | undefined {
  const { svidSigner = '' } = bundleEndpoint;
  if (dangerZone || svidSigner === '') return undefined;
  const message = messages.SVID_SIGNER;
  return { reason: 'DangerZoneNotAllowed', message };
}
