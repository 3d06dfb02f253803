// SPDX-License-Identifier: Apache-2.0

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
