// SPDX-License-Identifier: Apache-2.0
/** Texts about the answers of requests, by where users read them. */

// Events

export function omissions(parts: string): string {
  return `the certificate has less than its request: it has ${parts}`;
}

export function olderThanSigner(
  createdAt: string,
  signer: string,
  signerCreatedAt: string,
): string {
  return `created at ${createdAt}, before ${signer} (${signerCreatedAt}): not answered; create a new request`;
}

export function permissionMissing(component: string, fault: string): string {
  return `a permission is missing in ClusterRole countersign-${component} (rbac/${component}.yaml, or countersign rbac): ${fault}`;
}

export function clockSkew(offset: string, fault: string): string {
  return `the API server rejects notBefore, which may be five minutes from its clock: ${offset}: ${fault}`;
}

// Log

export function requestOutcome(outcome: string): string {
  return `request ${outcome}`;
}

export const UNREADABLE_REQUEST = 'request cannot be read, retrying';
export const UNEXPECTED_ERROR = 'unexpected error, request is retried';

export function unexpectedErrorOf(noun: string): string {
  return `unexpected error, ${noun} is retried`;
}

export function retried(noun: string): string {
  return `${noun} is retried`;
}

export const TAKEOVER = 'requests of another replica are overdue, taking them over';
export const TAKEOVER_FAILED = 'takeover of overdue requests has failed, trying again';

// /readyz

export function unlistedSigners(failure: string | undefined): string {
  return `ClusterSigners: ${failure ?? 'not listed yet'}`;
}

export function unlistedRequests(
  kind: string,
  signer: string,
  failure: string | undefined,
): string {
  return `${kind}s of ${signer}: ${failure ?? 'not listed yet'}`;
}

// Condition of a signer, by the report of the component

export function holderRefusal(refusal: string, component: string): string {
  return `${refusal}; make its limits (components.${component}.keyHolder in the values) and the spec of the signer agree`;
}
