// SPDX-License-Identifier: Apache-2.0
/** Texts about the hub of a fleet, for the condition AwaitingCertificate and the log. */
import { formatTime } from '#api/object/time.ts';
import { quoteList } from '#base/quote.ts';

// Condition AwaitingCertificate: the credential

export function secretMissing(secret: string): string {
  return `Secret ${secret} with the credential for the hub does not exist; run countersign fleet join on the hub, and apply the Secret that it prints`;
}

export function secretUnreadable(secret: string, problem: string): string {
  return `cannot read Secret ${secret} with the credential for the hub: ${problem}`;
}

export function secretUnusable(secret: string, problem: string): string {
  return `Secret ${secret} with the credential for the hub: ${problem}`;
}

export function notGranted(signerName: string): string {
  return `it lacks the annotation countersign.dev/signer-name: ${signerName}, the consent of its owner`;
}

export function otherKeys(keys: readonly string[]): string {
  return `it has ${quoteList(keys)}; only server, ca.crt and token are allowed`;
}

export const NOT_A_SERVER = 'server is not https://<host>[:<port>]';
export const NOT_A_CA = 'ca.crt has no CA certificate';
export const NOT_A_TOKEN = 'token is not that of a ServiceAccount';
export const ENDLESS_TOKEN =
  'token has no end, or an invalid one; run countersign fleet join again';

export function longToken(seconds: number): string {
  return `token is valid for more than ${seconds} s; run countersign fleet join again`;
}

export function otherAccount(account: string, cluster: string): string {
  return `token is that of ServiceAccount ${account}, but upstream.csr.cluster is ${cluster}`;
}

export function tokenExpired(secret: string, at: number): string {
  return `the token in Secret ${secret} expired at ${formatTime(at)}; run countersign fleet join again on the hub, and apply the Secret that it prints`;
}

// Condition AwaitingCertificate: the request

export function hubUnavailable(server: string, problem: string): string {
  return `hub ${server}: ${problem}`;
}

export const MALFORMED_ANSWER = 'the answer is malformed';

export function onHub(request: string): string {
  return `${request} on the hub`;
}

export function waitingForApproval(request: string): string {
  return `${request} is not approved yet; approver on the hub decides it by spec.intermediates`;
}

export function waitingForCertificate(request: string): string {
  return `${request} is approved and waits for signer on the hub`;
}

export function rootUnknown(bundle: string, fingerprint: string): string {
  return `ClusterTrustBundle ${bundle} of the hub does not have the root ${fingerprint} of rootFingerprint; if the hub has a new root, compare it with another source and change rootFingerprint`;
}

// Log

export function noTokenOf(account: string): string {
  return `the hub returned no token of ServiceAccount ${account}`;
}

export const TOKEN_RENEWED = 'renewed the token for the hub';
export const TOKEN_NOT_RENEWED = 'cannot renew the token for the hub; retrying';
export const NOT_REPORTED =
  'cannot report to the hub; retrying. If the hub denies the permission, run countersign fleet join there again';
