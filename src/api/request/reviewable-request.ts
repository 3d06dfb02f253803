// SPDX-License-Identifier: Apache-2.0

/**
 * The user who created a request (authentication.k8s.io UserInfo). Only the API server can set it.
 */
export interface Requester {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The part of a request that policy reads, independent of its kind. A CertificateSigningRequest
 * already has this shape. A CertificateRequest is converted to it.
 */
export interface ReviewableRequest {
  readonly metadata: {
    readonly name: string;
    /** Absent for cluster-scoped kinds. */
    readonly namespace?: string;
  };
  readonly spec: Requester & {
    /** base64 of PEM. */
    readonly request: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
}
