// SPDX-License-Identifier: Apache-2.0
import type { KeyType, KeyUsage, LeafSubject } from '../vocabulary.ts';

/** The kinds of requests that an authority may serve. */
export type RequestKindName =
  | 'CertificateSigningRequest'
  | 'PodCertificateRequest'
  /** cert-manager's; its `issuerRef` names the issuer. */
  | 'CertificateRequest';

/**
 * What a leaf must say: neither more nor less is delivered. All names are canonical, and free of what
 * is reserved for Kubernetes. Source: RFC 5280 §4.1.2.6, §4.2.1.6.
 */
export interface LeafTemplate extends LeafSubject {
  /** `certificates.k8s.io/v1` KeyUsage names: what is not here may not be in the leaf. */
  readonly usages: readonly KeyUsage[];
  /** Milliseconds since the epoch, whole seconds. */
  readonly notBefore: number;
  /** The same; notAfter − notBefore is the longest that the leaf may last. */
  readonly notAfter: number;
}

/** The key that the leaf must be for. */
export interface RequestedKey {
  readonly keyType: KeyType | undefined;
  /** DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7). */
  readonly spki: Uint8Array;
  /** The same as PEM, label PUBLIC KEY. */
  readonly pem: string;
}

/** A condition of a request as it stands. */
export interface RequestCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

/** The pod that a PodCertificateRequest is for, vouched for by its node (KEP-4317). */
export interface RequestingPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly serviceAccountName: string;
  readonly nodeName: string;
}

/**
 * One request, decoded and judged: approved where its kind is approved, its signature and key
 * checked, within its issuer's profile. Plain data, never changed.
 */
export interface SigningRequest {
  readonly kind: RequestKindName;
  readonly name: string;
  /** Absent for CertificateSigningRequests, which have none. */
  readonly namespace?: string;
  /** Of the object: the same at each call, another for each request. */
  readonly uid: string;
  readonly signerName: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Of the object's metadata. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the object, and those that a SetConditionError of an earlier call left. */
  readonly conditions: readonly RequestCondition[];
  /**
   * The PKCS#10 request as PEM: the requester's own of a CertificateSigningRequest, whose names are
   * claims (so of a CertificateRequest, too); of a PodCertificateRequest a stub that holds the key alone. Absent where a kubelet before
   * 1.36 sent a bare key.
   */
  readonly csr?: string;
  readonly publicKey: RequestedKey;
  readonly template: LeafTemplate;
  /** Who asks, of a CertificateSigningRequest or a CertificateRequest. */
  readonly requester?: { readonly username: string; readonly groups: readonly string[] };
  /** Who asks, of a PodCertificateRequest. */
  readonly pod?: RequestingPod;
}

/** What `sign` returns. */
export interface Signed {
  /** PEM: the leaf, then its issuers upwards; the root may be left out. At most 100 KiB. */
  readonly chain: string;
  /**
   * PEM of the anchors that the chain leads to. Without them the chain must end in one. Where the
   * issuer names a `trustBundle`, that alone decides.
   */
  readonly anchors?: string;
}
