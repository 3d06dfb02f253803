// SPDX-License-Identifier: Apache-2.0
/**
 * Limits of a ClusterSigner's fields. deploy/crds/clustersigners.yaml has the same limits, and
 * test/architecture/crd.test.ts compares the two. The API server needs them to bound the cost of the
 * CRD's CEL rules; we need them to bound the cost of ours.
 */

/** `metadata.name` of a Secret and of a ClusterTrustBundle: a DNS subdomain. */
export const MAX_OBJECT_NAME = 253;
/** `metadata.namespace`: a DNS label; also names of rules, and values of labels. */
export const MAX_LABEL = 63;
/** A label's or annotation's key: prefix, slash, name. */
export const MAX_QUALIFIED_NAME = 317;

/** ub-common-name is 64 (RFC 5280 appendix A.1); the CA's name gets ` <unix seconds>` appended. */
export const MAX_CA_COMMON_NAME = 52;
/** Characters of a duration: three numbers of ten digits with their units (api/object/duration.ts). */
export const MAX_DURATION_TEXT = 33;
/** `sha256:` and 64 hexadecimal digits. */
export const FINGERPRINT_TEXT = 71;
/** Entries of `distrusted`. A signer has a few CAs a year. */
export const MAX_DISTRUSTED = 64;

/** Upper limit of `maxRetiring`: half of `status.authorities`, the rest is for emergency rotations. */
export const MAX_RETIRING = 32;
/** Regular rotations leave one or two retiring CAs; every verifier can read a bundle of ten roots. */
export const DEFAULT_MAX_RETIRING = 8;
/** `status.authorities`, bounded by the CRD. */
export const MAX_AUTHORITIES = 64;

/** `status.crossCertificates`: one for each rotation, kept for the life of a CA at most. */
export const MAX_CROSS_CERTIFICATES = 256;
/** `status.distrusted`: the CAs of four full `distrusted` lists, within the life of one CA. */
export const MAX_DISTRUSTED_CAS = 256;
/** `status.retainedAnchors`: as many as one ClusterSigner may have had CAs. */
export const MAX_RETAINED_ANCHORS = 64;
/** `status.formerAnchors`: of the last day. */
export const MAX_FORMER_ANCHORS = 64;

/** One RE2 pattern; whole-value matches of annotations are short. */
export const MAX_PATTERN = 512;
/** Expressions for names. A leaf with more names than this would identify several pods. */
export const MAX_NAME_EXPRESSIONS = 16;
/** Expressions for addresses: a pod has one of each family. */
export const MAX_ADDRESS_EXPRESSIONS = 4;
/** Two labels and two dots of 63 characters go before it, and the whole name has 253 at most. */
export const MAX_CLUSTER_DOMAIN = 120;
/** Annotation keys that a pod may set; the API limits all annotations of a request to 256 KiB. */
export const MAX_ANNOTATION_RULES = 32;
/** Rules, and denials: each request runs all of them. */
export const MAX_RULES = 32;
/** Characters of a denial's message: the limit of an Event's note (events.k8s.io/v1 ValidateEvent). */
export const MAX_DENY_MESSAGE = 1024;
/** `allow.extensions` and `allow.attributes`. */
export const MAX_ALLOWED_OIDS = 16;
export const MAX_OID_TEXT = 128;
/** URLs of a CRL: verifiers try a few. */
export const MAX_CRL_URLS = 4;
export const MAX_CRL_URL = 512;
/** A CRL is signed again after half of its validity: less would be signing all the time. */
export const MIN_CRL_SECONDS = 600;
/** Labels put on the published ClusterTrustBundle. */
export const MAX_BUNDLE_LABELS = 32;

/** The longest leaf of a PodCertificateRequest that the API accepts (validation.go: 91 days). */
export const MAX_POD_LEAF_SECONDS = 7_862_400;
/** The shortest `spec.expirationSeconds` of a CertificateSigningRequest (ten minutes). */
export const MIN_LEAF_SECONDS = 600;
/** Less than five minutes, the skew that the API server allows for a PodCertificateRequest's notBefore. */
export const MAX_BACKDATE_SECONDS = 240;
/** A CA lives for at least two leaf lifetimes, so that its successor has time to become trusted. */
export const MIN_CA_LIFETIMES = 2;
