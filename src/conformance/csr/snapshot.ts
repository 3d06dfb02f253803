// SPDX-License-Identifier: Apache-2.0
import { KEY_TYPES } from '../../vocabulary.ts';
import { DISCOVERIES, type Operation, type RequestSnapshot } from '../snapshot.ts';

/** The CertificateSigningRequests that the runner creates, by what is special about each. */
export const CSR_SCENARIOS = [
  // Ordinary, for an hour; the same bytes again; with unknown labels and annotations.
  'plain',
  'again',
  'annotated',
  // Not approved by the runner; denied by the runner; deleted before anybody could look.
  'unapproved',
  'denied',
  'deleted',
  // For a signer name that no signer serves, and for one that starts with the signer's.
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
 * Calls of the API itself, as in upstream's test/e2e/auth/certificates.go; they build on each
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

/** All that the runner tries of the API itself; each is a case. */
export const CSR_OPERATIONS = [...DISCOVERIES, ...CSR_CALLS] as const;

/** One of {@link CSR_OPERATIONS}. */
export type CsrOperation = (typeof CSR_OPERATIONS)[number];

/** What one run observed of a signer of CertificateSigningRequests. */
export interface CsrSnapshot extends RequestSnapshot<CsrScenario, CsrOperation> {
  /** What the API server answered to the ordinary request's leaf as a client certificate. */
  readonly clientAuthentication: ClientAuthentication;
}

/**
 * What the API server answered to a client that presents the leaf (authentication.k8s.io/v1
 * SelfSubjectReview).
 */
export interface ClientAuthentication extends Operation {
  /** Whom the API server took the leaf's bearer for. */
  readonly username?: string;
}
