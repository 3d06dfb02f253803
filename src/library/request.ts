// SPDX-License-Identifier: Apache-2.0
import type { KeyType, KeyUsage, LeafSubject } from '../vocabulary.ts';

/** Kinds of requests that an authority can serve. */
export type RequestKindName =
  | 'CertificateSigningRequest'
  | 'PodCertificateRequest'
  /** Of cert-manager; its `issuerRef` names the issuer. */
  | 'CertificateRequest';

/**
 * What the leaf must contain, no more and no less; other leaves are refused. Names are canonical and free
 * of those that are reserved for Kubernetes. Source: RFC 5280 §4.1.2.6, §4.2.1.6.
 */
export interface LeafTemplate extends LeafSubject {
  /** `certificates.k8s.io/v1` KeyUsage names; the leaf may have no others. */
  readonly usages: readonly KeyUsage[];
  /** Milliseconds since the epoch, whole seconds, by the API server's clock. */
  readonly notBefore: number;
  /** The same. The leaf may last at most notAfter − notBefore. */
  readonly notAfter: number;
}

/** The key that the leaf must be for. */
export interface RequestedKey {
  /** Type of the key; undefined for one that has no name in the Kubernetes API. */
  readonly keyType: KeyType | undefined;
  /** DER SubjectPublicKeyInfo (RFC 5280 §4.1.2.7). */
  readonly spki: Uint8Array;
  /** The same as PEM, label PUBLIC KEY. */
  readonly pem: string;
}

/** A condition of a request. */
export interface RequestCondition {
  /** CamelCase. */
  readonly type: string;
  /** As in `metav1.Condition`. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs. */
  readonly reason?: string;
  /** For people. */
  readonly message?: string;
}

/** The pod that a PodCertificateRequest is for, as its kubelet vouches for it (KEP-4317). */
export interface RequestingPod {
  /** Namespace of the pod and its ServiceAccount. */
  readonly namespace: string;
  /** `spec.podName`. */
  readonly name: string;
  /** `spec.podUID`. */
  readonly uid: string;
  /** `spec.serviceAccountName`. */
  readonly serviceAccountName: string;
  /** `spec.nodeName`. */
  readonly nodeName: string;
}

/**
 * One request, decoded and checked: approved where its kind has approval, with a valid signature and key,
 * within the profile of its issuer. Plain, frozen data.
 */
export interface SigningRequest {
  /** Kind of the request. */
  readonly kind: RequestKindName;
  /** `metadata.name`. */
  readonly name: string;
  /** `metadata.namespace`; absent for CertificateSigningRequests. */
  readonly namespace?: string;
  /** `metadata.uid`: the same at each call, different for each request. */
  readonly uid: string;
  /** Signer name of the issuer. */
  readonly signerName: string;
  /** `metadata.creationTimestamp` in milliseconds since the epoch. */
  readonly createdAt: number;
  /** `metadata.annotations`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `status.conditions`, and those that a {@link SetConditionError} of an earlier call set. */
  readonly conditions: readonly RequestCondition[];
  /**
   * The PKCS#10 request as PEM. For a CertificateSigningRequest or CertificateRequest the requester's own,
   * whose names are claims: use `template`. For a PodCertificateRequest a stub that holds the key only;
   * absent when a kubelet before 1.36 sent a bare key.
   */
  readonly csr?: string;
  /** The key of the leaf. */
  readonly publicKey: RequestedKey;
  /** What the leaf must contain. */
  readonly template: LeafTemplate;
  /** The requester of a CertificateSigningRequest or CertificateRequest, as its spec names them. */
  readonly requester?: { readonly username: string; readonly groups: readonly string[] };
  /** The pod of a PodCertificateRequest. */
  readonly pod?: RequestingPod;
}

/** What `sign` returns. */
export interface Signed {
  /** PEM: the leaf, then its issuers in order; the root may be left out. At most 100 KiB. */
  readonly chain: string;
  /**
   * PEM of the anchors that the chain leads to. Without them the chain must end in a root. If the issuer
   * names a `trustBundle`, these are ignored and the bundle decides.
   */
  readonly anchors?: string;
}
