// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '../../pki/x509/pkcs10.ts';
import type { KeyType, KeyUsage, RequestField } from '../../vocabulary.ts';
import type { ReviewableRequest } from '../../api/request/reviewable-request.ts';

/** Why a request can never become a leaf of this signer, whoever approves it. */
export interface Violation {
  /** CamelCase: the reason of the condition that says so. */
  readonly reason: string;
  readonly message: string;
}

/** What of a signer's profile the hard rules look at. */
export interface RequestProfile {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  /** What a leaf takes of a request: `spec.requests.copy`. */
  readonly copy: readonly RequestField[];
}

export interface ViolationInput {
  readonly csr: ReviewableRequest;
  /** `csr.spec.request`, decoded. */
  readonly request: CertificationRequest;
  readonly profile: RequestProfile;
  /** Prefixes that this installation reserves besides `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
}

/** One rule that no spec can switch off. Pure; never throws on a decoded request. */
export type ViolationRule = (input: ViolationInput) => Violation | undefined;
