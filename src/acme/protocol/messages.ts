// SPDX-License-Identifier: Apache-2.0
/** Texts about the ACME protocol, by where users read them. */
import { quote } from '#base/quote.ts';

// Conditions: the account and its key

export const UNUSABLE_ACCOUNT_KEY =
  'the account key is of a kind that ACME servers refuse; use P-256 (preferred), P-384 or RSA of 2048 to 4096 bits';
export const KEY_OF_OTHER_ACCOUNT = 'the new key has an account of its own; use another new key';

export function unusableDirectory(url: string): string {
  return `the directory ${quote(url, 200)} is not an https:// URL without a user`;
}

// Conditions: what the server's answers lack

export const NO_KEY_CHANGE = 'the directory has no keyChange';
export const NO_REVOKE_CERT = 'the directory has no revokeCert';
export const NO_RENEWAL_INFO = 'the directory has no renewalInfo';
export const NO_NONCE = 'newNonce gives no Replay-Nonce';
export const NO_CERTIFICATE = 'the answer has no certificate';

export function unreadableChain(fault: string): string {
  return `the chain cannot be read: ${fault}`;
}

export const THE_ANSWER = 'the answer';

export function notRfc8555(what: string, path: string): string {
  return `${what}${path}: does not match RFC 8555`;
}

export function unusableMember(what: string, path: string, fault: string): string {
  return `${what}${path}: ${fault}`;
}

/** @param own - origin of the directory, then those that the spec adds */
export function foreignUrl(origin: string, [own = '', ...more]: readonly string[]): string {
  const added =
    more.length === 0 ? '' : `, or at ${more.join(', ')} of spec.acme.additionalOrigins`;
  return `is at ${origin}, and not an https:// URL at ${own}, the origin of spec.acme.server${added}; name the directory by the host that the CA uses in its URLs, or list the origin in spec.acme.additionalOrigins`;
}
