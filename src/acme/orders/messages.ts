// SPDX-License-Identifier: Apache-2.0
/** Texts about Orders and Challenges, by where users read them. */
import { quote } from '#base/quote.ts';

// Conditions and Events of a Challenge

export function turnEnded(before: string): string {
  return `its turn is over, and others wait for the same name or a slot; it is retried in its next turn${before}`;
}

export function earlierReason(hindrance: string): string {
  return `; before: ${hindrance}`;
}

export function withReason(reason: string, message: string): string {
  return `${reason}: ${message}`;
}

export const QUEUED =
  'other Challenges run first: a limited number at once, one for each name, and namespaces take turns';

export function authorizationExpired(time: string, cause: string): string {
  return `the authorization ended at ${time} without proof${cause}`;
}

export function causedBy(hindrance: string): string {
  return `: ${hindrance}`;
}

export function authorizationFailed(state: string, error: string | undefined): string {
  return `the ACME server found the authorization ${state}${error === undefined ? '' : `: ${error}`}`;
}

// Conditions and Events of an Order

export function orderInvalid(problem: string): string {
  return `the ACME server ended the order: ${problem}`;
}

export function authorizationNotPending(name: string, state: string): string {
  return `the authorization of ${quote(name)} is ${state}`;
}

export function accountNotValid(status: string): string {
  return `the ACME account is ${status} and cannot be used again; name another Secret in spec.acme.accountKey.secret, and make its key with countersign account-key`;
}

export const CHALLENGE_FAILED = 'a challenge was not proved';

export function waitsForChallenge(challenge: string, dnsName: string, cause: string): string {
  return `Challenge ${challenge} for ${dnsName}: ${cause}`;
}

export function noAnswer(detail: string): string {
  return `the ACME server did not answer: ${detail}`;
}

export function rateLimited(problem: string): string {
  return `the ACME server limits its calls: ${problem}`;
}

export function serverFailed(problem: string): string {
  return `the ACME server failed: ${problem}`;
}

export function serverRefused(problem: string): string {
  return `the ACME server refused: ${problem}`;
}

export function identifierFault(identifier: string, detail: string): string {
  return `; ${identifier}: ${detail}`;
}

// Renewal of an Order

const SHARE = 'the renewal time is a share of the validity';
export const RENEWAL_INFO_OFF = `spec.acme.renewalInfo of the signer is false: ${SHARE}`;
export const NO_WINDOW = `the ACME server suggests no window: ${SHARE}`;

export function windowUnreadable(detail: string): string {
  return `cannot read the renewal window from the ACME server, retrying: ${detail}`;
}

export function endsAt(time: string): string {
  return `it ends at ${time}`;
}

export function dueSince(time: string): string {
  return `the renewal of the certificate has been due since ${time}`;
}

export function dueAndEnd(due: string, end: string): string {
  return `${due}; ${end}`;
}

export function explainedAt(url: string): string {
  return `; the CA explains why at ${quote(url, 200)}`;
}

export function windowText(start: string, end: string): string {
  return `${start} to ${end}`;
}

export function suggestedWindow(
  due: string,
  window: string,
  end: string,
  explanation: string,
): string {
  return `${due}: the CA suggests ${window}; ${end}${explanation}`;
}

// Revocation of an Order

export function unknownReason(reason: string, known: string): string {
  return `${quote(reason)} is not a revocation reason; set the annotation to one of ${known}`;
}

export const CERTIFICATE_EXPIRED = 'the certificate has expired: no verifier accepts it';

export function ofOtherAccount(before: string, now: string): string {
  return `the account ${before} created the order, and the signer now has the account ${now}: another Order follows`;
}
