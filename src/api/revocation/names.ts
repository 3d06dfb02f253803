// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION } from '../signer/cluster-signer.ts';

/** Group, version and plural of Revocations. */
export const REVOCATIONS = { group: GROUP, version: VERSION, plural: 'revocations' } as const;

/** Condition of a Revocation, True if the CRLs have its certificates. */
export const LISTED = 'Listed';

/**
 * Returns the name of the ConfigMap with the CRLs of the CAs in a Secret. It is in the Secret's
 * namespace.
 */
export function crlConfigMapName(secretName: string): string {
  return `${secretName}-crl`;
}
