// SPDX-License-Identifier: Apache-2.0
/**
 * Limits of a ClusterSigner's fields. deploy/crds/clustersigners.yaml has the same limits, and
 * test/architecture/crd.test.ts compares the two. They bound the cost of the CRD's CEL rules in the
 * API server, and of the expressions here.
 */

/** `metadata.name` of a Secret and of a ClusterTrustBundle: a DNS subdomain. */
export const MAX_OBJECT_NAME = 253;
/** `metadata.namespace`: a DNS label. It also limits names of rules and values of labels. */
export const MAX_LABEL = 63;
/** A label's or annotation's key: prefix, slash, name. */
export const MAX_QUALIFIED_NAME = 317;

/** ub-common-name is 64 (RFC 5280 appendix A.1), and ` <unix seconds>` follows the CA's name. */
export const MAX_CA_COMMON_NAME = 52;
/**
 * Characters of a duration: three numbers of ten digits with their units (api/object/duration.ts).
 */
export const MAX_DURATION_TEXT = 33;
/** A fingerprint as text: the SHA-256 of a certificate's DER. */
export const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;
/** Length of `sha256:` with 64 hexadecimal digits. */
export const FINGERPRINT_TEXT = 71;
/**
 * Characters of an upstream chain: ten certificates with RSA keys of 4096 bits need 25,000. The
 * Secret holds it beside the keys, and leaves are delivered with it.
 */
export const MAX_UPSTREAM_CHAIN = 65_536;
/** A path of Vault. Its own limit is that of a URL. */
export const MAX_VAULT_PATH = 256;
/** The host of a server has 253 characters at most. */
export const MAX_VAULT_SERVER = 267;
/** Characters of the CAs of a server: ten certificates with RSA keys of 4096 bits. */
export const MAX_VAULT_CA_BUNDLE = 32_768;
/** Entries of `distrusted`. A signer has a few CAs a year. */
export const MAX_DISTRUSTED = 64;

/**
 * Upper limit of `maxRetiring`: half of `status.authorities`. The rest is for emergency rotations.
 */
export const MAX_RETIRING = 32;
/**
 * Regular rotations leave one or two retiring CAs. Every verifier can read a bundle of ten roots.
 */
export const DEFAULT_MAX_RETIRING = 8;
/** `status.authorities`, bounded by the CRD. */
export const MAX_AUTHORITIES = 64;

/** `status.crossCertificates`: one for each rotation, kept for the life of a CA at most. */
export const MAX_CROSS_CERTIFICATES = 256;
/** `status.distrusted`: the CAs of four full `distrusted` lists, within the life of one CA. */
export const MAX_DISTRUSTED_CAS = 256;
/** `status.retainedAnchors`: the maximum of CAs that one ClusterSigner may have had. */
export const MAX_RETAINED_ANCHORS = 64;
/** `status.formerAnchors`: those of the last day. */
export const MAX_FORMER_ANCHORS = 64;

/** Length of one RE2 pattern. Patterns that match a whole annotation value are short. */
export const MAX_PATTERN = 512;
/** Expressions for names. A leaf with more names than this would identify several pods. */
export const MAX_NAME_EXPRESSIONS = 16;
/** Expressions for addresses: a pod has one of each family. */
export const MAX_ADDRESS_EXPRESSIONS = 4;
/**
 * Length of the cluster domain. Two labels and two dots of 63 characters precede it, and the whole
 * name has at most 253.
 */
export const MAX_CLUSTER_DOMAIN = 120;
/** Annotation keys that a pod may set. The API limits all annotations of a request to 256 KiB. */
export const MAX_ANNOTATION_RULES = 32;
/** Rules, and denials. Each request runs all of them. */
export const MAX_RULES = 32;
/**
 * Characters of a denial's message: the limit of an Event's note (events.k8s.io/v1 ValidateEvent).
 */
export const MAX_DENY_MESSAGE = 1024;
/** `allow.extensions` and `allow.attributes`. */
export const MAX_ALLOWED_OIDS = 16;
export const MAX_OID_TEXT = 128;
/** URLs of a CRL. Verifiers try a few. */
export const MAX_CRL_URLS = 4;
export const MAX_CRL_URL = 512;
/**
 * Shortest validity of a CRL. `authority` signs it again after half of its validity, so less would
 * sign all the time.
 */
export const MIN_CRL_SECONDS = 600;
/** Labels on the published ClusterTrustBundle. */
export const MAX_BUNDLE_LABELS = 32;

/** The longest leaf of a PodCertificateRequest that the API accepts (validation.go: 91 days). */
export const MAX_POD_LEAF_SECONDS = 7_862_400;
/** The shortest `spec.expirationSeconds` of a CertificateSigningRequest (ten minutes). */
export const MIN_LEAF_SECONDS = 600;
/**
 * Longest backdate: less than five minutes, the skew that the API server allows for a
 * PodCertificateRequest's notBefore.
 */
export const MAX_BACKDATE_SECONDS = 240;
/**
 * Longest backdate of a signer without pods, whose leaves no API server checks: that of a new CA,
 * and what kube-controller-manager writes (pkg/controller/certificates/signer, backdate).
 */
export const MAX_UNCHECKED_BACKDATE_SECONDS = 300;
/** DNS domains of a member of a fleet. Verifiers compare each name with all of them. */
export const MAX_DNS_CONSTRAINTS = 8;
/**
 * Life of a CA in lifetimes of its intermediates, at least. SPIRE recommends six, so that an
 * intermediate and its leaves have time to be replaced.
 */
export const MIN_INTERMEDIATE_LIFETIMES = 6;
/** Life of a CA in leaf lifetimes, at least, so that its successor has time to become trusted. */
export const MIN_CA_LIFETIMES = 2;
