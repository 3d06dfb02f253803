// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign.dev/v1alpha1` ClusterSigner: wire types. The schema is
 * deploy/crds/clustersigners.yaml.
 */
import type {
  AuthorityKeyType,
  KeyType,
  KeyUsage,
  RequestField,
  ServiceNameForm,
} from '#base/vocabulary.ts';
import type { IssuerReference } from '../request/certificate-request.ts';
import type { Condition } from '../request/conditions.ts';
import type { KubeObject } from '../object/object.ts';
import type { VaultPlace } from './upstream-vault.ts';

export const GROUP = 'countersign.dev';
export const VERSION = 'v1alpha1';

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Certificate of the chain that becomes the trust anchor. `Root`: its self-signed root. `Issuer`:
 * the CA that signed the managed CA. `Authority`: the certificate of the managed CA itself.
 */
export const ANCHOR_CHOICES = ['Root', 'Issuer', 'Authority'] as const;

export type AnchorChoice = (typeof ANCHOR_CHOICES)[number];

/** The owner's choice of what verifiers trust of a chain. */
export interface UpstreamTrust {
  /** `sha256:<hex>` of the root of the chain, from a source other than the chain. */
  readonly rootFingerprint?: string;
  readonly anchor: AnchorChoice;
  /** Consent: verifiers accept every certificate below the anchor, including those of others. */
  readonly trustEverythingBelow: boolean;
}

/** A user passes the request to the upstream CA, and installs the chain that it returns. */
export interface ManualUpstream extends UpstreamTrust {
  /** PEM: the certificate of the managed CA, then its issuers in order, the root last. */
  readonly chain?: string;
}

/** An issuer of cert-manager signs a CertificateRequest of the `authority` component. */
export interface CertManagerUpstream extends UpstreamTrust {
  /** Namespace of the CertificateRequest, and of the issuer if its kind is namespaced. */
  readonly namespace: string;
  readonly issuerRef: Required<IssuerReference>;
  readonly rootFingerprint: string;
}

/**
 * The hub of a fleet signs a CertificateSigningRequest of the `authority` component. The Secret
 * `<CA Secret>-hub` has the credential.
 */
export interface CsrUpstream extends UpstreamTrust {
  /** Signer name on the hub. */
  readonly signerName: string;
  /** Name of this cluster on the hub. */
  readonly cluster: string;
  /** Last part of the name of the hub's ClusterTrustBundle, which has the root. */
  readonly bundle: string;
  readonly rootFingerprint: string;
}

/** A PKI secrets engine of Vault or OpenBao signs, which the `authority` component calls. */
export interface VaultUpstream extends UpstreamTrust, VaultPlace {
  /** Name or ID of the engine's issuer. If absent, its default issuer. */
  readonly issuer?: string;
  readonly rootFingerprint: string;
}

/** The CA that signs the certificate of a managed CA. Exactly one member is set. */
export interface UpstreamSpec {
  readonly manual?: ManualUpstream;
  readonly certManager?: CertManagerUpstream;
  readonly csr?: CsrUpstream;
  readonly vault?: VaultUpstream;
}

/** Returns the trust in the chain of an upstream. Undefined for one without any member. */
export function upstreamTrust(spec: UpstreamSpec): UpstreamTrust | undefined {
  return spec.manual ?? spec.certManager ?? spec.csr ?? spec.vault;
}

/**
 * A CA that the `authority` component creates and rotates. Durations are strings such as `1h30m`.
 */
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
  /** If absent, the CA signs its own certificate. */
  readonly upstream?: UpstreamSpec;
}

/** A CA whose key is in a key holder beside each component that signs with it. */
export interface KeyHolderAuthority {
  /** Namespace of the CA keys of the installation that serves the signer. */
  readonly namespace: string;
  /** Name of the key in the configuration of the key holder. */
  readonly key: string;
  /** PEM: the certificate of the CA, then its issuers in order. */
  readonly chain: string;
  /** PEM: the trust anchors. Required if `chain` does not end in a self-signed certificate. */
  readonly anchors?: string;
}

/** Exactly one member is set. */
export interface AuthoritySpec {
  readonly managed?: ManagedAuthority;
  /** The user's own CA. Countersign reads it and never writes it. */
  readonly secret?: SecretReference;
  readonly keyHolder?: KeyHolderAuthority;
}

/** CRLs of the signer's CAs. */
export interface CrlSpec {
  /**
   * Distribution points of each leaf. `{authority}` is a placeholder for the hexadecimal
   * fingerprint of the CA.
   */
  readonly urls?: readonly string[];
  /** Duration from thisUpdate to nextUpdate. */
  readonly validity: string;
}

/** Limits for every leaf of the signer. */
export interface ProfileSpec {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  readonly maxDuration: string;
  readonly backdate: string;
  /** CRL settings. If absent, no CRL is signed. */
  readonly crl?: CrlSpec;
}

export interface AnnotationRule {
  readonly key: string;
  /** RE2 pattern that must match the whole value. */
  readonly pattern: string;
}

/** The Services whose names a pod's leaf has, and the forms of these names. */
export interface PodServicesSpec {
  /** All Services that select the pod, or the one that the user annotation `annotation` names. */
  readonly select: 'All' | 'FromAnnotation';
  readonly annotation?: string;
  readonly forms: readonly ServiceNameForm[];
  readonly clusterDomain: string;
  /** A pod without such a Service gets no leaf. */
  readonly required: boolean;
}

/** Rules for PodCertificateRequests. `allow` and names are CEL expressions. */
export interface PodsSpec {
  /** CEL → bool. */
  readonly allow: string;
  /** CEL → string, one URI each. */
  readonly uris?: readonly string[];
  /** CEL → string, one DNS name each. */
  readonly dnsNames?: readonly string[];
  /** CEL → string, where '' means none. */
  readonly commonName?: string;
  readonly annotations?: readonly AnnotationRule[];
  readonly services?: PodServicesSpec;
  /** Keys of the pod's labels that expressions see in `pod.labels`. */
  readonly labels?: readonly string[];
  /** CEL → string, one IP address each. Only these expressions see `pod.ip`. */
  readonly ipAddresses?: readonly string[];
  readonly refreshAfterPercent?: number;
}

/**
 * CEL over one value (`self`) for each field. `usages` lists the usages that a request may contain.
 * `extensions` and `attributes` list the OIDs of what else it may contain, which no leaf gets.
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

/** Rules for CertificateSigningRequests. */
export interface RequestsSpec {
  readonly copy?: readonly RequestField[];
  readonly rules?: readonly RequestRule[];
  readonly deny?: readonly DenyRule[];
}

/** Rules for cert-manager's CertificateRequests. */
export interface CertificateRequestsSpec {
  readonly rules: readonly RequestRule[];
  readonly deny?: readonly DenyRule[];
}

/** Usages of an intermediate CA, by their names in certificates.k8s.io. */
export const INTERMEDIATE_USAGES = ['cert sign', 'crl sign'] as const;

export type IntermediateUsage = (typeof INTERMEDIATE_USAGES)[number];

/** `TrustDomain`: the intermediate permits URIs of its trust domain only. `None`: any URI. */
export const URI_CONSTRAINTS = ['TrustDomain', 'None'] as const;

/** A rule for the intermediate CA of another cluster. Its names come from the rule. */
export interface IntermediateRule {
  readonly name: string;
  /** CEL → bool: whether the requester may have the CA of this cluster. */
  readonly when: string;
  /** CEL → string: trust domain of the cluster. Its first label is the name of the cluster. */
  readonly trustDomain: string;
  readonly uriConstraint: (typeof URI_CONSTRAINTS)[number];
  /** CEL → string, one permitted DNS domain each. If absent, any DNS name is permitted. */
  readonly dnsConstraints?: readonly string[];
  /** Usages that the request may have. */
  readonly usages: readonly IntermediateUsage[];
}

/** Rules for CertificateSigningRequests for intermediate CAs. The signer signs no leaf. */
export interface IntermediatesSpec {
  readonly rules: readonly IntermediateRule[];
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
  readonly intermediates?: IntermediatesSpec;
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
  /** Longest lifetime of a leaf that this CA may have signed while Active. It never decreases. */
  readonly longestLeaf: string;
  /**
   * Time after which no leaf of this CA is valid. Set when it stops signing. It never decreases.
   */
  readonly leavesExpireBy?: string;
  /**
   * Time from which components may sign with it. Absent while the bundle lacks its anchor, if no
   * component may hold its key, and without `spec.trustBundle`.
   */
  readonly signsFrom?: string;
  /**
   * UID of the Secret that held the key last. Components drop the key when that Secret is deleted,
   * even if another one has the same name. Absent unless the CA is Active or in `tls.*`.
   */
  readonly secretUID?: string;
  /** Fingerprint of its predecessor, which certified its key. */
  readonly crossSignedBy?: string;
  /**
   * PEM of the trust anchors that leaves of this CA chain to. Signers do not have it, because their
   * anchors are not published.
   */
  readonly anchors?: string;
}

/**
 * A cross-certificate (RFC 5280 §3.2). The signer sent it with leaves, so anyone may have a copy.
 * This record outlives the entries of both CAs in `authorities`, until the certificate expires.
 */
export interface CrossCertificateStatus {
  /** Fingerprint of the CA that signed it. */
  readonly issuer: string;
  /** Fingerprint of the CA whose key it certifies. */
  readonly subject: string;
  /** RFC 3339: time at which it expires, the earlier end of the two CAs. */
  readonly notAfter: string;
}

/**
 * A CA that was distrusted and never becomes trusted again. `Named`:
 * `spec.authority.managed.distrusted` named it. `Certifier`: it certified the key of a named CA,
 * which its root would make valid again.
 */
export interface DistrustedCaStatus {
  readonly fingerprint: string;
  readonly reason: 'Named' | 'Certifier';
  /** RFC 3339: time at which its certificate expires. Absent if unknown. */
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

/** An anchor that a regular rotation removed from the bundle. Its absence causes no warning. */
export interface FormerAnchorStatus {
  readonly fingerprint: string;
  /** RFC 3339. */
  readonly removedAt: string;
}

/** A key that waits for its certificate from the upstream CA. */
export interface UpstreamStatus {
  /** PEM of the PKCS#10 request. */
  readonly request: string;
  /** RFC 3339. */
  readonly requestedAt: string;
  /**
   * RFC 3339: time by which the certificate must be installed, so that no leaf gets shorter than
   * the profile allows. Absent while no CA signs.
   */
  readonly installBy?: string;
  /** `<namespace>/<name>` of the CertificateRequest that waits for its issuer. */
  readonly certificateRequest?: string;
  /** RFC 3339: when a new key and request replace those that the upstream CA refused. */
  readonly retryAt?: string;
}

export interface ClusterSignerStatus {
  readonly observedGeneration?: number;
  /** Derived signer name of a Signer. ClusterSigners do not have it. */
  readonly signerName?: string;
  readonly conditions?: readonly Condition[];
  readonly authorities?: readonly AuthorityStatus[];
  readonly crossCertificates?: readonly CrossCertificateStatus[];
  readonly distrusted?: readonly DistrustedCaStatus[];
  /**
   * Absent until `authority` has read the published bundle once. Any other unknown anchor in it is
   * foreign from then on.
   */
  readonly retainedAnchors?: readonly RetainedAnchorStatus[];
  readonly formerAnchors?: readonly FormerAnchorStatus[];
  /** Time of the next rotation of a managed CA, unless an operator requests an earlier one. */
  readonly nextRotation?: string;
  /** Absent while no certificate is awaited. */
  readonly upstream?: UpstreamStatus;
}

/**
 * The part of the spec that signers of every kind share: the leaves. Each kind has its own CA
 * fields.
 */
export type SignerSpec = Omit<ClusterSignerSpec, 'authority'>;

/** An object that serves requests: a ClusterSigner, a Signer, or the issuer of a remote CA. */
export interface SignerObject extends KubeObject {
  readonly spec: SignerSpec;
}

/**
 * A ClusterSigner, or a Signer in the same shape. `kind` and `metadata.namespace` distinguish them.
 */
export interface ClusterSigner extends KubeObject {
  readonly spec: ClusterSignerSpec;
  readonly status?: ClusterSignerStatus;
}

/** Kinds of requests, each by the member of a signer's spec with its rules. */
export const SERVED_KINDS = ['pods', 'requests', 'certificateRequests'] as const;

export type ServedKind = (typeof SERVED_KINDS)[number];

/** Returns one value for each kind. */
export function byServedKind<T>(of: (kind: ServedKind) => T): Readonly<Record<ServedKind, T>> {
  return {
    pods: of('pods'),
    requests: of('requests'),
    certificateRequests: of('certificateRequests'),
  };
}

/** Returns the kinds of requests that a signer serves. */
export function servedKinds(
  spec: Pick<SignerSpec, ServedKind | 'intermediates'>,
): readonly ServedKind[] {
  return SERVED_KINDS.filter((kind) =>
    kind === 'requests' ? servesSigningRequests(spec) : spec[kind] !== undefined,
  );
}

/** Reports whether a signer answers CertificateSigningRequests: for leaves, or for CAs. */
export function servesSigningRequests({
  requests,
  intermediates,
}: Pick<SignerSpec, 'requests' | 'intermediates'>): boolean {
  return requests !== undefined || intermediates !== undefined;
}

/**
 * Reports whether a managed CA certifies CAs: the key of its successor, or those of other clusters.
 * Its pathLenConstraint is then 1, else 0.
 */
export function certifiesCas({
  authority,
  intermediates,
}: Pick<ClusterSignerSpec, 'authority' | 'intermediates'>): boolean {
  return authority.managed?.crossSigned === true || intermediates !== undefined;
}

/** Returns the Secret that holds a signer's CA, or undefined if its key is in a key holder. */
export function secretOrNone({ authority }: ClusterSignerSpec): SecretReference | undefined {
  return authority.managed?.secret ?? authority.secret;
}

/**
 * Returns the Secret that holds a signer's CA.
 *
 * @throws TypeError if its key is in a key holder
 */
export function secretOf(spec: ClusterSignerSpec): SecretReference {
  const found = secretOrNone(spec);
  if (found === undefined) throw new TypeError('the signer has no Secret with a CA');
  return found;
}

/**
 * Returns the namespace of the CA keys of the installation that serves a signer. Undefined if the
 * spec names neither a Secret nor a key holder.
 */
export function keysNamespaceOf(spec: ClusterSignerSpec): string | undefined {
  return secretOrNone(spec)?.namespace ?? spec.authority.keyHolder?.namespace;
}

/** Reports whether a signer must read the pod and its Services to answer a request. */
export function readsPods({ pods }: Pick<SignerSpec, 'pods'>): boolean {
  return (
    pods?.services !== undefined ||
    (pods?.labels ?? []).length + (pods?.ipAddresses ?? []).length > 0
  );
}
