// SPDX-License-Identifier: Apache-2.0
import type { KeyType, KeyUsage, LeafSubject } from '#base/vocabulary.ts';

/** Kinds of requests that an authority can serve. */
export type RequestKindName =
  | 'CertificateSigningRequest'
  | 'PodCertificateRequest'
  /** Request of cert-manager. Its `issuerRef` names the issuer. */
  | 'CertificateRequest';

/**
 * Contents of the leaf, no more and no less. Other leaves are rejected. Names are canonical and
 * exclude those reserved for Kubernetes. Source: RFC 5280 §4.1.2.6, §4.2.1.6.
 */
export interface LeafTemplate extends LeafSubject {
  /** `certificates.k8s.io/v1` KeyUsage names. The leaf may have no others. */
  readonly usages: readonly KeyUsage[];
  /** Milliseconds since the epoch, whole seconds, by the API server's clock. */
  readonly notBefore: number;
  /** The same. The leaf may last at most notAfter − notBefore. */
  readonly notAfter: number;
}

/** The public key for the leaf. */
export interface RequestedKey {
  /** Type of the key. Undefined if the Kubernetes API has no name for it. */
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
  /** Status, as in `metav1.Condition`. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs. */
  readonly reason?: string;
  /** Message, for people. */
  readonly message?: string;
}

/** The pod of a PodCertificateRequest, which its kubelet guarantees (KEP-4317). */
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
 * One request, decoded and checked: approved if its kind has approval, with a valid signature and
 * key, within the profile of its issuer. Plain, frozen data.
 */
export interface SigningRequest {
  /** Kind of the request. */
  readonly kind: RequestKindName;
  /** `metadata.name`. */
  readonly name: string;
  /** `metadata.namespace`. Absent for CertificateSigningRequests. */
  readonly namespace?: string;
  /** `metadata.uid`: equal at each call, different for each request. */
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
   * The PKCS#10 request as PEM. For a CertificateSigningRequest or CertificateRequest it is the
   * requester's own, whose names are claims: use `template`. For a PodCertificateRequest it is a
   * stub with the key only. Absent if a kubelet before 1.36 sent a bare key.
   */
  readonly csr?: string;
  /** The key of the leaf. */
  readonly publicKey: RequestedKey;
  /** Required contents of the leaf. */
  readonly template: LeafTemplate;
  /** The requester of a CertificateSigningRequest or CertificateRequest, from its spec. */
  readonly requester?: { readonly username: string; readonly groups: readonly string[] };
  /** The pod of a PodCertificateRequest. */
  readonly pod?: RequestingPod;
}

/** Result of `sign`. */
export interface SignedCertificate {
  /** PEM: the leaf, then its issuers in order. The root may be left out. At most 100 KiB. */
  readonly chain: string;
  /**
   * PEM of the anchors that the chain leads to. Without them the chain must end in a root. If the
   * issuer names a `trustBundle`, the bundle decides, and these are ignored.
   */
  readonly anchors?: string;
}
