// SPDX-License-Identifier: Apache-2.0
import { quantity } from '#base/quantity.ts';
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import { quote } from '#base/quote.ts';

// Condition Ready, and the reason for which requests wait

export const READY = 'the CA issues certificates';
export function unreadableAnchors(fault: string): string {
  return `spec.authority.anchors: ${fault}; no certificate was ordered`;
}

/** @param found - the certificate, what is wrong, and the verifiers */
export function anchorRejected(found: string): string {
  return `${READY}, and ${found}; write its root to spec.authority.anchors (docs/reference/verifiers.md)`;
}

export const NOT_CHECKED = 'external-signer has not checked the CA yet';

export function signerNameTaken(rival: string, signerName: string): string {
  return `${rival} already serves ${signerName}; delete this one, and create another with a signer name of its own`;
}

export function serverNotListed(server: string): string {
  return `${server} is not listed in this installation; list it in external.vaults of the chart (--vault of external-signer)`;
}

export function roleDenied(server: string, path: string, problem: string): string {
  return `${server} denied reading ${path}: ${problem}; the policy in Vault must allow read on this path`;
}

export function signDenied(server: string, path: string, problem: string): string {
  return `${server} denied an order by ${path}: ${problem}; the policy in Vault must allow update on this path, for the names of the request`;
}

export function signRefused(server: string, path: string, problem: string): string {
  return `${server} refused an order by ${path}: ${problem}; correct the role of the secrets engine, or the rules of the signer`;
}

export function signUnusable(server: string, path: string): string {
  return `the answer of ${server} to ${path} has no certificate, or is longer than ${MAX_UPSTREAM_CHAIN} characters, and the CA may have issued a certificate that is not used; check server and mount, and the chain of the issuer in the secrets engine`;
}

export function roleField(role: string, field: string, value: string): string {
  return `role ${role} of the secrets engine: ${field} must be ${value}, because the signer alone decides names and expiry; no certificate was ordered`;
}

export function roleUsage(role: string, usage: string): string {
  return `role ${role} of the secrets engine adds ${quote(usage, 80)}, which spec.profile.usages does not allow; remove it from the role, or allow it in the spec; no certificate was ordered`;
}

export function roleUnreadable(role: string): string {
  return `role ${role} of the secrets engine has values that Vault does not give; check server and mount`;
}

export function roleBackdate(role: string, seconds: number, most: number): string {
  return `role ${role} of the secrets engine: not_before_duration is ${seconds} s; reduce it to at most ${most} s; no certificate was ordered`;
}

export function roleLife(role: string, seconds: number, least: number): string {
  return `role ${role} of the secrets engine: max_ttl is ${seconds} s; certificates of pods need at least ${least} s, so increase it; no certificate was ordered`;
}

export const NOT_LOGGED_IN = 'there is no login at the CA; the next check logs in';

export function paused(seconds: number, cause: string): string {
  return `the CA did not serve the last call; retrying in ${seconds} s: ${cause}`;
}

export function answersRefused(count: number, time: string, problem: string): string {
  return `external-signer refused ${quantity(count, 'certificate')} of the CA in a row, because they do not match their requests; the next order is at ${time}: ${problem}`;
}

export function flowHeld(seconds: number, problem: string): string {
  return `the last order for this namespace or user brought no usable certificate; no certificate is ordered for ${seconds} s: ${problem}`;
}

export function refusedBefore(problem: string): string {
  return `external-signer refused the certificate for this key; the next order is after ten minutes, or after a change of the signer: ${problem}`;
}

// Requests

export const NOT_LEADER = 'another replica leads and answers this request';

export const BUSY =
  'the CA has as many calls as it may have at once; this request is ordered in its turn';

export const SAME_KEY =
  'another request for the same key waits for the CA; this one is answered after it';

export const NO_SPACE =
  'external-signer has no space for another chain until the API server accepts those that it has; no certificate is ordered';

export const NO_PKCS10 =
  'the kubelet of this node sent a key without a PKCS#10 request, which the CA needs; upgrade the node to Kubernetes 1.36 or later';

export const NO_TIME =
  'the certificate would expire before it starts; set a longer profile.maxDuration';

export function usageNotRequested(usage: string): string {
  return `the CA adds the usage "${usage}" to each certificate, and the request lacks it; request it as well`;
}

export function namesTooLong(bytes: number, most: number): string {
  return `the names of the certificate have ${bytes} bytes; the limit is ${most}; request fewer names`;
}

export const ORGANIZATIONS =
  'Vault takes organizations from its role, so a request cannot have any; remove them from the rules of the signer';

export function commaInName(name: string): string {
  return `${quote(name, 120)} has a comma, which separates names in calls of Vault; remove the comma, or this name`;
}

export function emptyFragment(uri: string): string {
  return `${quote(uri, 120)} ends with an empty fragment, which Vault removes; request it without "#"`;
}

// Log and /readyz

export const READINESS_CHANGED = 'the readiness of an ExternalClusterSigner changed';
export const ORDERED = 'ordered a certificate';
export const ANSWER_REFUSED = 'refused a certificate of the CA';
export const CHAIN_NOT_KEPT = 'cannot write a returned chain to the disk';

export function chainsNotKept(directory: string, problem: string): string {
  return `cannot use ${directory}: ${problem}; returned chains are in memory only, so a restart may order certificates again`;
}

export function chainsFull(bytes: number): string {
  return `chains that are not delivered yet have ${bytes} bytes, which is the limit; no certificate is ordered until the API server accepts them, or until they expire after ten minutes`;
}

export function unlistedSigners(failure: string | undefined): string {
  return `ExternalClusterSigners: ${failure ?? 'not listed yet'}`;
}
