// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import { leafValidity, type Validity } from '#ca/issuance/validity.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { omittedFields } from '#ca/policy/omitted-fields.ts';
import type { KeyUsage } from '#base/vocabulary.ts';
import type { CertificateTemplate } from './issuing-ca.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';

/** Minimum of `spec.expirationSeconds` (certificates.k8s.io/v1, validation.go): ten minutes. */
export const MIN_REQUESTED_SECONDS = 600;

export interface LeafTemplateInput {
  readonly spec: ReviewableRequest['spec'];
  /** Decoded, and without refusals. */
  readonly request: CertificationRequest;
  readonly profile: Profile;
  /** Selects the requested names that the leaf contains. */
  readonly copy: Profile['copy'];
  /** The CA's own validity. */
  readonly authority: Validity;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

export type PlannedLeaf =
  | ({
      readonly kind: 'issue';
      /** Text on what the leaf omits of the request, or undefined if it omits nothing. */
      readonly omitted: string | undefined;
    } & CertificateTemplate)
  | { readonly kind: 'wait'; readonly error: SignerError };

/**
 * Returns the leaf for a PKCS#10 request, valid as long as requested but no longer than the profile
 * allows.
 */
export function leafTemplate(input: LeafTemplateInput): PlannedLeaf {
  const { spec, request, profile, copy, authority, now } = input;
  const longest = profile.maxDurationSeconds;
  try {
    const validity = leafValidity({
      now,
      lifetimeSeconds: Math.min(spec.expirationSeconds ?? longest, longest),
      backdateSeconds: profile.backdateSeconds,
      minimumSeconds: Math.min(MIN_REQUESTED_SECONDS, longest),
      issuer: authority,
    });
    return {
      kind: 'issue',
      subject: copyRequestedNames(request, copy),
      publicKey: request.publicKey,
      // Encoding refuses usages that Kubernetes does not know.
      usages: (spec.usages ?? []) as readonly KeyUsage[],
      validity,
      omitted: omittedFields(spec, request, { copy, maxDurationSeconds: longest }),
    };
  } catch (error) {
    if (error instanceof SignerError) return { kind: 'wait', error };
    throw error;
  }
}
