// SPDX-License-Identifier: Apache-2.0
/** `countersign.dev/v1alpha1` ClusterSigner: wire types. The schema is deploy/crds/clustersigners.yaml. */
import type { AuthorityKeyType, KeyType, KeyUsage, RequestField } from '../../vocabulary.ts';
import type { Condition } from '../request/conditions.ts';
import type { KubeObject } from '../object/object.ts';

export const GROUP = 'countersign.dev';
export const VERSION = 'v1alpha1';

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

/** A CA that the `authority` component makes and rotates. Durations are Go duration texts. */
export interface ManagedAuthority {
  readonly secret: SecretReference;
  readonly keyType: AuthorityKeyType;
  readonly commonName: string;
  readonly duration: string;
  readonly renewBefore?: string;
  /** While so many CAs are Retiring, a rotation that can wait waits. */
  readonly maxRetiring: number;
  /** Each CA certifies its successor's key, for verifiers that have its root alone. */
  readonly crossSigned: boolean;
  /** `sha256:<hex>` fingerprints of CAs no longer to be trusted. */
  readonly distrusted?: readonly string[];
}

/** Exactly one member is set. */
export interface AuthoritySpec {
  readonly managed?: ManagedAuthority;
  /** The user's own CA, only ever read. */
  readonly secret?: SecretReference;
}

/** What every leaf of the signer is held to. */
export interface ProfileSpec {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  readonly maxDuration: string;
  readonly backdate: string;
}

export interface AnnotationRule {
  readonly key: string;
  /** RE2; the whole value must match. */
  readonly pattern: string;
}

/** How PodCertificateRequests are answered. Strings are CEL expressions where the name says so. */
export interface PodsSpec {
  /** CEL → bool. */
  readonly allow: string;
  /** CEL → string, one URI each. */
  readonly uris?: readonly string[];
  /** CEL → string, one DNS name each. */
  readonly dnsNames?: readonly string[];
  /** CEL → string; '' for none. */
  readonly commonName?: string;
  readonly annotations?: readonly AnnotationRule[];
  readonly refreshAfterPercent?: number;
}

/** CEL over one value (`self`) for each field; `usages` are the names that may be asked for. */
export interface AllowSpec extends Readonly<Partial<Record<RequestField, string>>> {
  readonly usages?: readonly KeyUsage[];
}

export interface RequestRule {
  readonly name: string;
  readonly when: string;
  readonly allow: AllowSpec;
}

export interface DenyRule {
  readonly name: string;
  readonly when: string;
  readonly message: string;
}

/** How CertificateSigningRequests are answered. */
export interface RequestsSpec {
  readonly copy?: readonly RequestField[];
  readonly rules?: readonly RequestRule[];
  readonly deny?: readonly DenyRule[];
}

/** How cert-manager's CertificateRequests are answered. */
export interface CertificateRequestsSpec {
  readonly rules: readonly RequestRule[];
  readonly deny?: readonly DenyRule[];
}

export interface TrustBundleSpec {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ClusterSignerSpec {
  readonly signerName: string;
  readonly authority: AuthoritySpec;
  readonly profile: ProfileSpec;
  readonly pods?: PodsSpec;
  readonly requests?: RequestsSpec;
  readonly certificateRequests?: CertificateRequestsSpec;
  readonly trustBundle?: TrustBundleSpec;
}

/**
 * Prepared: published, not signing. Active: signs. Retiring: signs no more, still trusted.
 * Distrusted: signs no more and is in no bundle, because `distrusted` names it.
 */
export const AUTHORITY_PHASES = ['Prepared', 'Active', 'Retiring', 'Distrusted'] as const;

export type AuthorityPhase = (typeof AUTHORITY_PHASES)[number];

/** The public half of one CA of a signer. */
export interface AuthorityStatus {
  /** `sha256:<hex>` of the CA certificate's DER. */
  readonly fingerprint: string;
  readonly phase: AuthorityPhase;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Longest leaf that this CA may have signed while Active; only grows. */
  readonly longestLeaf: string;
  /** Once it no longer signs: the moment after which no leaf of it is valid; only grows. */
  readonly leavesExpireBy?: string;
  /** Fingerprint of the CA before it, which certified its key. */
  readonly crossSignedBy?: string;
  /** PEM of the trust anchors that leaves of this CA chain to. */
  readonly anchors: string;
}

/**
 * A cross-certificate (RFC 5280 §3.2) that was made once. It was sent with leaves, so anybody may have
 * it: the record outlives the entries of both CAs in `authorities`, until the certificate expires.
 */
export interface CrossCertificateStatus {
  /** Fingerprint of the CA that signed it. */
  readonly issuer: string;
  /** Fingerprint of the CA whose key it certifies. */
  readonly subject: string;
  /** RFC 3339: when it expires; the earlier end of the two CAs. */
  readonly notAfter: string;
}

/**
 * A CA that left trust by distrust and never returns. `Named`: `spec.authority.managed.distrusted` named
 * it. `Certifier`: it certified the key of one that was named, so its root would be the way back.
 */
export interface DistrustedCaStatus {
  readonly fingerprint: string;
  readonly reason: 'Named' | 'Certifier';
  /** RFC 3339: when its certificate expires; absent where that was never known. */
  readonly notAfter?: string;
}

/** An anchor that an earlier ClusterSigner published, and whose leaves may live. */
export interface RetainedAnchorStatus {
  readonly fingerprint: string;
  /** RFC 3339: no leaf below it lives longer. */
  readonly until: string;
  /** PEM of the certificate. */
  readonly anchor: string;
}

/** An anchor that was taken out of the bundle in the ordinary way: nobody need be warned of that. */
export interface FormerAnchorStatus {
  readonly fingerprint: string;
  /** RFC 3339. */
  readonly removedAt: string;
}

export interface ClusterSignerStatus {
  readonly observedGeneration?: number;
  /** Of a Signer, whose name is derived: what it is. */
  readonly signerName?: string;
  readonly conditions?: readonly Condition[];
  readonly authorities?: readonly AuthorityStatus[];
  readonly crossCertificates?: readonly CrossCertificateStatus[];
  readonly distrusted?: readonly DistrustedCaStatus[];
  /** Absent until the published bundle was looked at once; what it holds besides is a stranger's from then on. */
  readonly retainedAnchors?: readonly RetainedAnchorStatus[];
  readonly formerAnchors?: readonly FormerAnchorStatus[];
  /** When a managed CA's next rotation begins, if nobody asks for it sooner. */
  readonly nextRotation?: string;
}

/** What signers of every kind say of their leaves; whose CA signs them is each kind's own. */
export type SignerSpec = Omit<ClusterSignerSpec, 'authority'>;

/** An object that requests are answered for: a ClusterSigner, or the issuer of a CA that is not ours. */
export interface SignerObject extends KubeObject {
  readonly spec: SignerSpec;
}

/** A ClusterSigner; or a Signer that was read, whose `kind` and `metadata.namespace` say so. */
export interface ClusterSigner extends KubeObject {
  readonly spec: ClusterSignerSpec;
  readonly status?: ClusterSignerStatus;
}

/** The Secret that holds a signer's CA. */
export function secretOf(spec: ClusterSignerSpec): SecretReference {
  const found = spec.authority.managed?.secret ?? spec.authority.secret;
  if (found === undefined) throw new TypeError('a checked spec has exactly one authority member');
  return found;
}
