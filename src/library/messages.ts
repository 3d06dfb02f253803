// SPDX-License-Identifier: Apache-2.0
/** Texts of the library, by where users read them. */
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { quote } from '#base/quote.ts';

// Faults of a program that uses the library

export const NO_AUTHORITY = 'an authority is needed, and the list is empty';

export function severalNames(first: string, other: string): string {
  return `the authorities of one process need one name, and there are "${first}" and "${other}"`;
}

export function twoAuthorities(kind: string): string {
  return `${kind} is the kind of two authorities`;
}

export function invalidDefinition(field: string, value: string): string {
  return `defineAuthority: ${field} may not be "${value}"`;
}

export function invalidLimit(option: string, value: number, range: string): string {
  return `run: ${option} is ${value}; write a number of seconds ${range}`;
}

export const COPIED_REQUEST = 'pass the request object that sign() was called with, not a copy';

export function unnamedSecret(name: string): string {
  return `secrets() does not name Secret ${name}; add it there`;
}

// Condition Ready of an issuer, and why a request waits

export function secretMissing(namespace: string, name: string): string {
  return `Secret ${namespace}/${name} does not exist`;
}

export function secretNotGranted(namespace: string, name: string, signerName: string): string {
  return `Secret ${namespace}/${name} lacks the annotation ${SIGNER_NAME}: ${signerName}; the owner of the Secret grants it by adding that`;
}

export const BUNDLE_NOT_PUBLISHED = 'its trust bundle is not published';

export function issuerNotChecked(kind: string, name: string): string {
  return `${kind} ${name} has not been checked yet`;
}

export function issuerNotReady(
  kind: string,
  name: string,
  reason: string | undefined,
  fault: string | undefined,
): string {
  return `${kind} ${name} is not ready: ${reason ?? ''}: ${fault ?? ''}`;
}

export function invalidSpec(fault: string): string {
  return `spec: ${fault}`;
}

export function tooManyIssuers(plural: string, most: number): string {
  return `it is ignored: the namespace already has ${most} ${plural}, the most that are served; delete one, then change this one`;
}

export function issuerTooLong(most: number): string {
  return `spec has more than ${most} characters as JSON; shorten it`;
}

export function notASecretName(name: string): string {
  return `${quote(name)} is not a Secret name`;
}

export function invalidAuthority(fault: string): string {
  return `spec.authority: ${fault}`;
}

export const NOT_PARSED = 'not parsed yet';

export function signerNameTaken(elder: string, signerName: string): string {
  return `${elder} is older and serves ${signerName}`;
}

export function callTimeout(milliseconds: number): string {
  return `no answer within ${milliseconds} ms`;
}

/** @param found - the certificate, what is wrong, and the verifiers */
export function anchorRejected(found: string): string {
  return `requests are signed, and ${found}; return or publish the root (docs/reference/verifiers.md)`;
}

export const NO_CHAIN = 'sign() returned no PEM text in chain';

export const NO_ANCHOR_TEXT = 'sign() returned anchors that are not PEM text';

export const ERROR_WITHOUT_MESSAGE = 'an error without a message';

export function unreadableAnchors(fault: string): string {
  return `the CA returned anchors that cannot be parsed: ${fault}`;
}

// Log

export const ISSUER_CHECK_FAILED = 'issuer check failed, retrying';
export const ISSUER_READINESS_CHANGED = 'issuer readiness changed';

// /readyz

export function unlistedIssuers(plural: string, failure: string | undefined): string {
  return `${plural}: ${failure ?? 'not listed yet'}`;
}

export function unlistedBundle(name: string, failure: string | undefined): string {
  return `bundle of ${name}: ${failure ?? 'not listed yet'}`;
}
