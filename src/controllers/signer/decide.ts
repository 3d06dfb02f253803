// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '../../api/csr.ts';
import { SignerError } from '../../errors.ts';
import type { LeafSubject } from '../../issuance/leaf-subject.ts';
import type { Profile } from '../../issuance/profile.ts';
import { requestSubject } from '../../issuance/request-subject.ts';
import { leafValidity, type Validity } from '../../issuance/validity.ts';
import type { PublicKeyInfo } from '../../pki/keys.ts';
import { decodeSpec } from '../../policy/decode.ts';
import { refusals } from '../../policy/refusals.ts';
import type { KeyUsage } from '../../vocabulary.ts';

export interface Snapshot {
  readonly csr: CertificateSigningRequest;
  readonly profile: Profile;
  /** The CA's own validity, or why there is none to sign with now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
}

export type Plan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'wait'; readonly error: SignerError }
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string }
  | {
      readonly kind: 'issue';
      readonly subject: LeafSubject;
      readonly publicKey: PublicKeyInfo;
      readonly usages: readonly KeyUsage[];
      readonly validity: Validity;
    };

/** `spec.expirationSeconds` may not be shorter (certificates.k8s.io/v1, validation.go). */
const MIN_LIFETIME_SECONDS = 600;

/**
 * Decides one CertificateSigningRequest: only what is approved, unfinished and free of hard
 * refusals is signed. An approval by hand lifts no refusal.
 */
export function decide(snapshot: Snapshot): Plan {
  const { csr, profile } = snapshot;
  if (!isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  const decoded = decodeSpec(csr);
  if (decoded.kind === 'refused') {
    return { kind: 'fail', reason: decoded.refusal.reason, message: decoded.refusal.message };
  }
  const found = refusals({
    csr,
    request: decoded.request,
    profile,
    reservedPrefixes: snapshot.reservedPrefixes,
  });
  const [first] = found;
  if (first !== undefined) {
    const message = found.map((each) => each.message).join('; ');
    return { kind: 'fail', reason: first.reason, message };
  }
  const { authority } = snapshot;
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const subject = requestSubject(decoded.request, profile.copy);
  return issue(snapshot, authority, subject, decoded.request.publicKey);
}

function issue(
  snapshot: Snapshot,
  authority: Validity,
  subject: LeafSubject,
  publicKey: PublicKeyInfo,
): Plan {
  const { csr, profile } = snapshot;
  try {
    const validity = leafValidity({
      now: snapshot.now,
      lifetimeSeconds: Math.min(
        csr.spec.expirationSeconds ?? profile.maxDurationSeconds,
        profile.maxDurationSeconds,
      ),
      backdateSeconds: profile.backdateSeconds,
      minimumSeconds: Math.min(MIN_LIFETIME_SECONDS, profile.maxDurationSeconds),
      issuer: authority,
    });
    const usages = (csr.spec.usages ?? []) as readonly KeyUsage[];
    return { kind: 'issue', subject, publicKey, usages, validity };
  } catch (error) {
    if (error instanceof SignerError) return { kind: 'wait', error };
    throw error;
  }
}
