// SPDX-License-Identifier: Apache-2.0
/**
 * Bounds of a ClusterSigner's fields. deploy/crds/clustersigners.yaml has the same ones, and
 * test/architecture/crd.test.ts holds the two together. The API server needs them to bound the cost
 * of the CRD's own CEL rules; we need them to bound ours.
 */

/** `metadata.name` of a Secret and of a ClusterTrustBundle: a DNS subdomain. */
export const MAX_OBJECT_NAME = 253;
/** `metadata.namespace`: a DNS label; also names of rules, and values of labels. */
export const MAX_LABEL = 63;
/** A label's or annotation's key: prefix, slash, name. */
export const MAX_QUALIFIED_NAME = 317;

/** ub-common-name is 64 (RFC 5280 appendix A.1); the CA's name gets ` <unix seconds>` appended. */
export const MAX_CA_COMMON_NAME = 52;
/** Three numbers of ten digits with their units: what api/duration.ts reads. */
export const MAX_DURATION_TEXT = 33;
/** `sha256:` and 64 hexadecimal digits. */
export const FINGERPRINT_TEXT = 71;
/** CAs that a signer may have lost trust in; a rotation makes one a quarter at the most. */
export const MAX_DISTRUSTED = 64;

/** Anchors of old CAs in one bundle: half of what `status.authorities` holds, the rest is for emergencies. */
export const MAX_RETIRING = 32;
/** Ordinary rotations leave one or two; a bundle of ten roots is still read by everybody. */
export const DEFAULT_MAX_RETIRING = 8;
/** `status.authorities`, bounded by the CRD. */
export const MAX_AUTHORITIES = 64;

/** `status.crossCertificates`: a rotation makes one, and keeps it for a CA's life at the most. */
export const MAX_CROSS_CERTIFICATES = 256;
/** `status.distrusted`: the CAs of four full `distrusted` lists, within the life of one CA. */
export const MAX_DISTRUSTED_CAS = 256;
/** `status.retainedAnchors`: as many as one ClusterSigner may have had CAs. */
export const MAX_RETAINED_ANCHORS = 64;
/** `status.formerAnchors`: of the last day. */
export const MAX_FORMER_ANCHORS = 64;

/** One RE2 pattern; whole-value matches of annotations are short. */
export const MAX_PATTERN = 512;
/** Expressions for names: a leaf with more names than this belongs to several pods. */
export const MAX_NAME_EXPRESSIONS = 16;
/** Annotation keys that a pod may set; the API bounds all of a request's by 256 KiB. */
export const MAX_ANNOTATION_RULES = 32;
/** Rules and denials are all run for each request. */
export const MAX_RULES = 32;
/** What an Event's note holds (events.k8s.io/v1 ValidateEvent). */
export const MAX_DENY_MESSAGE = 1024;
/** Labels put on the published ClusterTrustBundle. */
export const MAX_BUNDLE_LABELS = 32;

/** The longest leaf of a PodCertificateRequest that the API accepts (validation.go: 91 days). */
export const MAX_POD_LEAF_SECONDS = 7_862_400;
/** The shortest `spec.expirationSeconds` of a CertificateSigningRequest (ten minutes). */
export const MIN_LEAF_SECONDS = 600;
/** Below five minutes, the skew that the API server grants to a PodCertificateRequest's notBefore. */
export const MAX_BACKDATE_SECONDS = 240;
/** A CA must outlive the leaves of its first half, so that a successor has time to be trusted. */
export const MIN_CA_LIFETIMES = 2;
