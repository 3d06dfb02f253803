// SPDX-License-Identifier: Apache-2.0

/** Who created a request, written by the API server and by nobody else (authentication.k8s.io UserInfo). */
export interface Requester {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * What policy looks at of a request, of whatever kind: a CertificateSigningRequest is one as it is,
 * a CertificateRequest is read as one.
 */
export interface ReviewableRequest {
  readonly metadata: {
    readonly name: string;
    /** Absent of kinds that have none. */
    readonly namespace?: string;
  };
  readonly spec: Requester & {
    /** base64 of PEM. */
    readonly request: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
}
