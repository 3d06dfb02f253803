// SPDX-License-Identifier: Apache-2.0
/** Names that the API and the certificates share: key types and key usages. */

/**
 * Key types in the spelling of the kubelet's `podCertificate.keyType`, plus RSA2048.
 * CertificateSigningRequests may use RSA2048, and PodCertificateRequests may not.
 */
export const KEY_TYPES = [
  'RSA2048',
  'RSA3072',
  'RSA4096',
  'ECDSAP256',
  'ECDSAP384',
  'ECDSAP521',
  'ED25519',
] as const;

export type KeyType = (typeof KEY_TYPES)[number];

/** Key types that PodCertificateRequests may use, in the order of {@link KEY_TYPES}. */
export const POD_KEY_TYPES = KEY_TYPES.filter(
  (keyType): keyType is Exclude<KeyType, 'RSA2048'> => keyType !== 'RSA2048',
);

/**
 * Key types for `authority.managed.keyType`. MLDSA65 is experimental and for CAs only. No leaf has
 * such a key, and many verifiers do not support its signatures (docs/explanation/ml-dsa.md).
 */
export const AUTHORITY_KEY_TYPES = [
  'ECDSAP256',
  'ECDSAP384',
  'ECDSAP521',
  'ED25519',
  'RSA3072',
  'RSA4096',
  'MLDSA65',
] as const satisfies readonly (KeyType | 'MLDSA65')[];

export type AuthorityKeyType = (typeof AUTHORITY_KEY_TYPES)[number];

/** The 23 names of `certificates.k8s.io/v1` KeyUsage. */
export const KEY_USAGES = [
  'signing',
  'digital signature',
  'content commitment',
  'key encipherment',
  'key agreement',
  'data encipherment',
  'cert sign',
  'crl sign',
  'encipher only',
  'decipher only',
  'any',
  'server auth',
  'client auth',
  'code signing',
  'email protection',
  's/mime',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'timestamping',
  'ocsp signing',
  'microsoft sgc',
  'netscape sgc',
] as const;

export type KeyUsage = (typeof KEY_USAGES)[number];

/**
 * Usages that no leaf gets. With the first two it could sign certificates or CRLs, and `any`
 * cancels the limits of all other usages of a profile.
 */
export const REFUSED_USAGES = [
  'cert sign',
  'crl sign',
  'any',
] as const satisfies readonly KeyUsage[];

/** Usages that `profile.usages` may list, in the order of {@link KEY_USAGES}. */
export const LEAF_USAGES = KEY_USAGES.filter(
  (usage): usage is Exclude<KeyUsage, (typeof REFUSED_USAGES)[number]> =>
    !REFUSED_USAGES.some((refused) => refused === usage),
);

/** Parts of a request that `requests.copy` and a rule's `allow` may name. */
export const REQUEST_FIELDS = [
  'commonName',
  'organizations',
  'organizationalUnits',
  'dnsNames',
  'ipAddresses',
  'uris',
  'emails',
] as const;

export type RequestField = (typeof REQUEST_FIELDS)[number];

/**
 * Subject and subject alternative names of a leaf or a request, by {@link RequestField}, in
 * canonical form. `commonName` is '' for none.
 */
export interface LeafSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

/**
 * Limit on Services whose names one leaf may have. The annotation of a pod behind more Services
 * selects some. A larger leaf would exceed the size that readers expect.
 */
export const MAX_POD_SERVICES = 32;

/** Labels of a pod that `spec.pods.labels` may name. */
export const MAX_POD_LABELS = 16;

/**
 * Forms of a Service's name (Kubernetes DNS-Based Service Discovery §2.3 and §2.4, and the search
 * list of resolv.conf). The first is the one that every resolver of a pod completes. The last needs
 * no completion.
 */
export const SERVICE_NAME_FORMS = [
  'Service',
  'ServiceNamespace',
  'ServiceNamespaceSvc',
  'FullyQualified',
] as const;

export type ServiceNameForm = (typeof SERVICE_NAME_FORMS)[number];

/**
 * Maximum UTF-16 units of one CEL expression, for the CRD's schema and for the compiler. Typical
 * rules have a few hundred.
 */
export const MAX_EXPRESSION = 2_048;

/**
 * Reasons for a revocation, by the names and numbers of CRLReason (RFC 5280 §5.3.1), that a CA can
 * give for its own leaves. The others concern CAs, attribute certificates, holds, and delta CRLs.
 */
export const REVOCATION_REASONS = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
} as const;

export type CrlReason = keyof typeof REVOCATION_REASONS;

/**
 * Fields that records of the ledger can omit. The certificate, the request's name and UID, pod,
 * ServiceAccount, CA, and rule always stay.
 */
export const OMITTABLE_FIELDS = [
  /** Username and UID of the requester. The name of a ServiceAccount still shows its requests. */
  'user',
  'groups',
  /** The PKCS#10 request or public key, with all requested names. */
  'request',
  /** Annotations that a pod's author wrote on its volume. */
  'annotations',
  'node',
  /** Name of the approver. */
  'approver',
  /** Reason and message of the condition Approved, as they are on the request. */
  'stated',
  /** Text of a denial or a failure. Its reason stays. */
  'message',
] as const;

/** A field that records can omit. */
export type OmittableField = (typeof OMITTABLE_FIELDS)[number];
