// SPDX-License-Identifier: Apache-2.0
import type { Asking } from '../api/request/asking.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import type { KeyType, KeyUsage, RequestField } from '../vocabulary.ts';

/** Why a request can never become a leaf of this signer, whoever approves it. */
export interface Refusal {
  /** CamelCase: the reason of the condition that says so. */
  readonly reason: string;
  readonly message: string;
}

/** What of a signer's profile the hard rules look at. */
export interface RefusalProfile {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  /** What a leaf takes of a request: `spec.requests.copy`. */
  readonly copy: readonly RequestField[];
}

export interface RefusalInput {
  readonly csr: Asking;
  /** `csr.spec.request`, decoded. */
  readonly request: CertificationRequest;
  readonly profile: RefusalProfile;
  /** Prefixes that this installation reserves besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
}

/** One rule that no spec can switch off. Pure; never throws on a decoded request. */
export type RefusalRule = (input: RefusalInput) => Refusal | undefined;
