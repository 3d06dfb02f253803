// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase } from '../../api/signer/cluster-signer.ts';

export type RequestKind =
  'CertificateSigningRequest' | 'PodCertificateRequest' | 'CertificateRequest';

/** What the request controllers count; `web/metrics.ts` has the series. */
export interface RequestMetrics {
  /** One request ended, or one look at it led to waiting. `reason` is of a small fixed set. */
  outcome(labels: {
    readonly kind: RequestKind;
    readonly signer: string;
    readonly outcome: string;
    readonly reason: string;
  }): void;
  /** Seconds from creation to the write that ended it. */
  duration(kind: RequestKind, signer: string, seconds: number): void;
  /** Requests in the cache that still need this component. */
  pending(kind: RequestKind, signer: string, count: number): void;
  /** The signer name is served no more: what was measured of it last is not so any longer. */
  unserved(signer: string): void;
}

/** What authority and attester measure; `web/trust-series.ts` has the series. */
export interface TrustMetrics {
  /** Bundles under our signer names that are not ours. */
  foreignBundles(signer: string, count: number): void;
  /** An anchor that somebody else had added to a published bundle was taken out again. */
  strangerAnchor(signer: string, fingerprint: string): void;
  /** Unix seconds of the Active CA's end. */
  authorityNotAfter(signer: string, seconds: number): void;
  /** Unix seconds until which a leaf may be as long as the profile says. */
  authorityFullLeaves(signer: string, seconds: number): void;
  authorityPhase(signer: string, phase: AuthorityPhase, count: number): void;
  /** The published bundle; times in Unix seconds. */
  bundle(
    signer: string,
    of: { readonly certificates: number; readonly notAfter: number; readonly published: number },
  ): void;
}
