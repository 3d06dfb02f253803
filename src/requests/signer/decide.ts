// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { SignerError } from '#base/errors.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import { validateRequest } from '#ca/policy/validate.ts';
import { leafTemplate, type PlannedLeaf } from '../issuing/leaf-template.ts';

export interface SigningInput {
  readonly csr: CertificateSigningRequest;
  readonly profile: Profile;
  /** The CA's own validity, or the error if no CA can sign now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
}

export type SigningPlan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  | PlannedLeaf;

/**
 * Decides one CertificateSigningRequest. It signs only requests that are approved, unfinished and
 * without hard refusals. A manual approval does not override a refusal.
 */
export function decide(snapshot: SigningInput): SigningPlan {
  const { csr, profile, authority, reservedPrefixes, now } = snapshot;
  if (!isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  const admitted = validateRequest({ csr, profile, reservedPrefixes });
  if (admitted.kind === 'fail') return admitted;
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const { request } = admitted;
  return leafTemplate({ spec: csr.spec, request, profile, copy: profile.copy, authority, now });
}
