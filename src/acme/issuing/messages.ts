// SPDX-License-Identifier: Apache-2.0
/** Texts about ACME calls, by where users read them. */
import { quoteList, quote } from '#base/quote.ts';

// Conditions of an Order: the certificate that the CA returned

export function wrongCertificate(fault: string): string {
  return `the CA returned ${fault}`;
}

export const OTHER_KEY = 'a certificate for another public key';
export const CA_CERTIFICATE = 'a CA certificate';
export const PRECERTIFICATE = 'a precertificate';

export function otherNames(names: readonly string[], requested: readonly string[]): string {
  return `a certificate for ${quoteList(names)}; the request has ${quoteList(requested)}`;
}

export function tooLong(hours: number, max: number): string {
  return `a certificate of ${hours} hours; spec.profile.maxDuration allows ${max}`;
}

export function otherKinds(count: number): string {
  return `a certificate with ${count} names of other kinds`;
}

export const USER_ID = "a certificate with a user's UID";

export function reservedName(name: string): string {
  return `a certificate for ${quote(name)}, a name of Kubernetes itself`;
}

export const EVERY_PURPOSE =
  'a certificate without the extendedKeyUsage extension, which permits every purpose';

export function otherPurpose(purpose: string): string {
  return `a certificate for the purpose ${purpose}; ACME certifies servers and clients`;
}

export function otherExtension(oid: string): string {
  return `a certificate with the extension ${oid}; spec.acme.allowedExtensions allows it`;
}

export const WITHOUT_ISSUERS =
  'a certificate without its issuers (RFC 8555 §9.1); have the CA send its intermediates, or name the CA that signed it in spec.acme.omittedIssuers';

export function unreadableIssuers(fault: string): string {
  return `a certificate that is not checked: spec.acme.omittedIssuers cannot be read: ${fault}`;
}

export const NO_ISSUER_SIGNED = 'none of its issuers is a valid CA that signed the certificate';

export function unverifiableChain(fault: string): string {
  return `a chain that cannot be verified: ${fault}`;
}

// Conditions of an Order: its authorizations

export function unknownAuthorization(name: string): string {
  return `the authorization is for ${quote(name)}, which the Order does not have`;
}

// Condition Ready of an ACME signer

export function termsNotAgreed(url: string): string {
  return `the CA requires agreement to its terms: read ${quote(url, 200)} and set spec.acme.termsOfServiceAgreed`;
}

export const EXTERNAL_ACCOUNT_REQUIRED =
  'the CA serves its customers only: set spec.acme.externalAccountBinding to what it gave you';

export function unknownProfile(profile: string, known: string): string {
  return `the CA has no profile ${quote(profile)}, ${known}; change spec.acme.profile`;
}

export const NO_PROFILES = 'it has none';

export function hasProfiles(profiles: readonly string[]): string {
  return `it has ${quoteList(profiles)}`;
}

export const KEY_CHANGE_NOT_SEEN =
  'the server accepted the new key, but still finds the account by the old one';
