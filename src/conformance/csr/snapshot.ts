// SPDX-License-Identifier: Apache-2.0
import { KEY_TYPES } from '#base/vocabulary.ts';
import { DISCOVERIES, type Operation, type RequestSnapshot } from '../snapshot.ts';

/** The CertificateSigningRequests that the runner creates, by the special property of each. */
export const CSR_SCENARIOS = [
  // An ordinary request for an hour, the same bytes again, and one with unknown labels and
  // annotations.
  'plain',
  'again',
  'annotated',
  // Requests that the runner does not approve, that it denies, and that it deletes at once.
  'unapproved',
  'denied',
  'deleted',
  // Requests for a signer name without a signer, and for one that starts with the signer's.
  'foreign',
  'longerName',
  // Lifetimes: ten minutes, ten years, and none.
  'tenMinutes',
  'tenYears',
  'noLifetime',
  // Usages.
  'certSign',
  'anyUsage',
  'encipherment',
  // Names.
  'alternativeNames',
  'masters',
  'kubeadm',
  'systemUser',
  'userId',
  'otherName',
  'twoNames',
  // Extensions inside the PKCS#10 request.
  'authorityExtension',
  'usageExtension',
  'purposeExtension',
  'unknownExtension',
  // A second PEM block with another key.
  'twoBlocks',
  // Keys.
  'RSA1024',
  ...KEY_TYPES,
] as const;

/** One of {@link CSR_SCENARIOS}. */
export type CsrScenario = (typeof CSR_SCENARIOS)[number];

/**
 * Calls of the API itself, as in upstream's test/e2e/auth/certificates.go. They build on each
 * other.
 */
export const CSR_CALLS = [
  'create',
  'get',
  'list',
  'patch',
  'update',
  'watch',
  'getApproval',
  'patchApproval',
  'updateApproval',
  'getStatus',
  'patchStatus',
  'updateStatus',
  'delete',
  'deleteCollection',
] as const;

/** One of {@link CSR_CALLS}. */
export type CsrCall = (typeof CSR_CALLS)[number];

/** All operations on the API itself. Each is a case. */
export const CSR_OPERATIONS = [...DISCOVERIES, ...CSR_CALLS] as const;

/** One of {@link CSR_OPERATIONS}. */
export type CsrOperation = (typeof CSR_OPERATIONS)[number];

/** The observations of one run of a signer of CertificateSigningRequests. */
export interface CsrSnapshot extends RequestSnapshot<CsrScenario, CsrOperation> {
  /** The API server's answer to the ordinary request's leaf as a client certificate. */
  readonly clientAuthentication: ClientAuthentication;
}

/**
 * The API server's answer to a client that presents the leaf (authentication.k8s.io/v1
 * SelfSubjectReview).
 */
export interface ClientAuthentication extends Operation {
  /** The username that the API server assigned to the bearer of the leaf. */
  readonly username?: string;
}
