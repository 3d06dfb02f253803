// SPDX-License-Identifier: Apache-2.0
/** `countersign.dev/v1alpha1` ClusterSigner: wire types. The schema is deploy/crds/clustersigners.yaml. */
import type {
  AuthorityKeyType,
  KeyType,
  KeyUsage,
  RequestField,
  ServiceNameForm,
} from '../../vocabulary.ts';
import type { Condition } from '../request/conditions.ts';
import type { KubeObject } from '../object/object.ts';

export const GROUP = 'countersign.dev';
export const VERSION = 'v1alpha1';

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

/** A CA that the `authority` component creates and rotates. Durations are strings such as `1h30m`. */
export interface ManagedAuthority {
  readonly secret: SecretReference;
  readonly keyType: AuthorityKeyType;
  readonly commonName: string;
  readonly duration: string;
  readonly renewBefore?: string;
  /** While this many CAs are Retiring, only an urgent rotation starts. */
  readonly maxRetiring: number;
  /** Each CA certifies its successor's key, for verifiers that trust only the old root. */
  readonly crossSigned: boolean;
  /** `sha256:<hex>` fingerprints of CAs that must no longer be trusted. */
  readonly distrusted?: readonly string[];
}

/** Exactly one member is set. */
export interface AuthoritySpec {
  readonly managed?: ManagedAuthority;
  /** The user's own CA. It is read, never written. */
  readonly secret?: SecretReference;
}

/** CRLs of the signer's CAs. */
export interface CrlSpec {
  /** Distribution points of each leaf; `{authority}` stands for the hexadecimal fingerprint of the CA. */
  readonly urls?: readonly string[];
  /** From thisUpdate to nextUpdate. */
  readonly validity: string;
}

/** Limits for every leaf of the signer. */
export interface ProfileSpec {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  readonly maxDuration: string;
  readonly backdate: string;
  /** Absent: no CRL is signed. */
  readonly crl?: CrlSpec;
}

export interface AnnotationRule {
  readonly key: string;
  /** RE2; the whole value must match. */
  readonly pattern: string;
}

/** Which Services' names a pod's leaf has, and in which forms. */
export interface PodServicesSpec {
  /** All Services that select the pod, or the one that the user annotation `annotation` names. */
  readonly select: 'All' | 'FromAnnotation';
  readonly annotation?: string;
  readonly forms: readonly ServiceNameForm[];
  readonly clusterDomain: string;
  /** Whether a pod without such a Service gets no leaf at all. */
  readonly required: boolean;
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
  readonly services?: PodServicesSpec;
  /** Keys of the pod's labels that expressions see in `pod.labels`. */
  readonly labels?: readonly string[];
  /** CEL → string, one IP address each; the only expressions that see `pod.ip`. */
  readonly ipAddresses?: readonly string[];
  readonly refreshAfterPercent?: number;
}

/**
 * For each field, CEL over one value (`self`). `usages` lists the usages that a request may contain; `extensions`
 * and `attributes` the OIDs of what else it may contain. No leaf gets those.
 */
export interface AllowSpec extends Readonly<Partial<Record<RequestField, string>>> {
  readonly usages?: readonly KeyUsage[];
  readonly extensions?: readonly string[];
  readonly attributes?: readonly string[];
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
 * Prepared: published, does not sign yet. Active: signs. Retiring: no longer signs, still trusted.
 * Distrusted: no longer signs and is in no bundle, because `distrusted` names it.
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
  /** Longest lifetime of a leaf that this CA may have signed while Active. Never decreases. */
  readonly longestLeaf: string;
  /** Set when it stops signing: no leaf of this CA is valid after this time. Never decreases. */
  readonly leavesExpireBy?: string;
  /** Fingerprint of its predecessor, which certified its key. */
  readonly crossSignedBy?: string;
  /** PEM of the trust anchors that leaves of this CA chain to. Not of a Signer: nobody publishes them. */
  readonly anchors?: string;
}

/**
 * A cross-certificate (RFC 5280 §3.2). It was sent with leaves, so anyone may have a copy: this record
 * outlives the entries of both CAs in `authorities`, until the certificate expires.
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
 * A CA that was distrusted and never becomes trusted again. `Named`: `spec.authority.managed.distrusted`
 * named it. `Certifier`: it certified the key of a named CA, which its root would make valid again.
 */
export interface DistrustedCaStatus {
  readonly fingerprint: string;
  readonly reason: 'Named' | 'Certifier';
  /** RFC 3339: when its certificate expires; absent if unknown. */
  readonly notAfter?: string;
}

/** An anchor that an earlier ClusterSigner published and that leaves may still chain to. */
export interface RetainedAnchorStatus {
  readonly fingerprint: string;
  /** RFC 3339: all leaves that chain to it have expired by then. */
  readonly until: string;
  /** PEM of the certificate. */
  readonly anchor: string;
}

/** An anchor that regular rotation removed from the bundle: its absence is no reason for a warning. */
export interface FormerAnchorStatus {
  readonly fingerprint: string;
  /** RFC 3339. */
  readonly removedAt: string;
}

export interface ClusterSignerStatus {
  readonly observedGeneration?: number;
  /** For a Signer only: its derived signer name. */
  readonly signerName?: string;
  readonly conditions?: readonly Condition[];
  readonly authorities?: readonly AuthorityStatus[];
  readonly crossCertificates?: readonly CrossCertificateStatus[];
  readonly distrusted?: readonly DistrustedCaStatus[];
  /** Absent until the published bundle is read once. Any other unknown anchor in it is foreign from then on. */
  readonly retainedAnchors?: readonly RetainedAnchorStatus[];
  readonly formerAnchors?: readonly FormerAnchorStatus[];
  /** When the next rotation of a managed CA starts, unless an operator requests an earlier one. */
  readonly nextRotation?: string;
}

/** The part of the spec that signers of every kind share: the leaves. Each kind has its own CA fields. */
export type SignerSpec = Omit<ClusterSignerSpec, 'authority'>;

/** An object that serves requests: a ClusterSigner, a Signer, or the issuer of a remote CA. */
export interface SignerObject extends KubeObject {
  readonly spec: SignerSpec;
}

/** A ClusterSigner; or a Signer in the same shape, which `kind` and `metadata.namespace` tell apart. */
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

/** Whether answering a request takes reading the pod and its Services. */
export function readsPods({ pods }: Pick<SignerSpec, 'pods'>): boolean {
  return (
    pods?.services !== undefined ||
    (pods?.labels ?? []).length + (pods?.ipAddresses ?? []).length > 0
  );
}
