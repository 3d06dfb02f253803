// SPDX-License-Identifier: Apache-2.0
/** Texts about issuing, by where users read them. */

// Events of requests, and /readyz

export function revocationsUnknown(failure: string | undefined): string {
  return `cannot list Revocations: ${failure ?? 'not listed yet'}; issuance is paused; grant list and watch of revocations.countersign.dev (countersign rbac), and install deploy/crds/revocations.yaml`;
}

export function unlistedRevocations(key: string, failure: string | undefined): string {
  return `${key}: ${failure ?? 'not listed yet'}`;
}

export const SIGNER_CHANGED =
  'the signer, its CA or the revocations changed after the leaf was signed; the leaf is not delivered, and the request is decided again';

export const SIGNS_CAS_ONLY =
  'the signer signs the CAs of other clusters only (spec.intermediates), and no leaf';

// Log

export const SIGNED_CA = 'signed the CA of a cluster';

// Faults of this program

export const NO_CA_OF_LEAVES = 'a signer of leaves signs no CA';
export const NO_LEAF_OF_HUB = 'a signer of CAs signs no leaf';
