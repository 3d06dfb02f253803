// SPDX-License-Identifier: Apache-2.0
import type { Requester } from './requester.ts';

/**
 * What policy looks at of a request, of whatever kind: a CertificateSigningRequest is one as it is,
 * a CertificateRequest is read as one.
 */
export interface Asking {
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
