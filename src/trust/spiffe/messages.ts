// SPDX-License-Identifier: Apache-2.0
/** Texts about SPIFFE bundles and IDs, by where users read them. */
import { quote } from '#base/quote.ts';

// Flags

export const FOREIGN_DOMAIN_SYNTAX =
  'write <trust domain>,https_web,<url> or <trust domain>,https_spiffe,<SPIFFE ID of the server>,<url>';
export const HTTPS_URL_ONLY =
  'the URL of a bundle endpoint begins with https:// and has no user information';

export function notATrustDomain(name: string): string {
  return `${quote(name, 80)} is not the name of a trust domain; write it in lower case and without spiffe://, such as prod.example.com`;
}

// Unreadable foreign bundles

export function notAnObject(what: string): string {
  return `${what} is not a JSON object`;
}

export const THE_BUNDLE = 'the bundle';
export const A_KEY = 'a key';
export const NO_KEYS = 'it has no list "keys"';

export function tooManyKeys(max: number): string {
  return `it has more than ${max} keys`;
}

export function tooManyCas(max: number): string {
  return `it has more than ${max} CAs`;
}

export const SEQUENCE_NOT_WHOLE = '"spiffe_sequence" is not a whole number';
export const REFRESH_HINT_NOT_WHOLE = '"spiffe_refresh_hint" is not a whole number of seconds';
export const PRIVATE_KEY = 'a key has its private part ("d"): every reader can sign as the CA';
export const NOT_BASE64 = 'a certificate in x5c is not base64';
export const OTHER_KEY = 'a key is not that of its certificate in x5c';
export const NOT_A_CA = 'a certificate in x5c is not that of a CA';
export const CA_MAY_NOT_SIGN = 'a CA certificate in x5c may not sign certificates (keyCertSign)';
export const CA_ID_WITH_PATH = 'a CA certificate in x5c has a SPIFFE ID with a path';

// Refused foreign bundles

export function sequenceDecreased(known: bigint, sequence: bigint): string {
  return `spiffe_sequence went back from ${known} to ${sequence}: an older bundle, or another server`;
}

export function foreignCa(uri: string): string {
  return `it has a CA of ${quote(uri, 80)}`;
}

export function ofOwnDomain(ca: string): string {
  return `${ca}, which is our own trust domain`;
}

export function ofOtherDomain(ca: string): string {
  return `${ca}, which is another trust domain`;
}

export function ownOrDistrustedCa(fingerprint: string): string {
  return `it has CA ${fingerprint}, which has a key of this installation or is distrusted`;
}

// Certificates that are not X509-SVIDs

export function uriCount(count: number): string {
  return `it has ${count} URI names, not one`;
}

export const IS_A_CA = 'it is a CA certificate';
export const NO_CRITICAL_KEY_USAGE = 'it has no critical key usage';
export const NO_DIGITAL_SIGNATURE = 'its key usage lacks digitalSignature';
export const SIGNS_CERTIFICATES_OR_CRLS = 'its key usage has keyCertSign or cRLSign';
export const WRONG_EXTENDED_USAGE = 'its extended key usage lacks serverAuth or clientAuth';

export function notASpiffeId(uri: string): string {
  return `${quote(uri, 80)} is not a SPIFFE ID`;
}

export function notCanonical(uri: string, canonical: string): string {
  return `${quote(uri, 80)} is not written as ${canonical}`;
}

export function withoutPath(uri: string): string {
  return `${uri} has no path`;
}
