// SPDX-License-Identifier: Apache-2.0

/** What we and Go take and `openssl verify -x509_strict` does not, with the reason. */
export const OPENSSL_REFUSES: ReadonlyMap<string, string> = new Map([
  ['path/cross-signed', 'OpenSSL tries one path, and not the one that leads to the anchor'],
  ['path/last-second', 'RFC 5280 §4.1.2.5: through notAfter, inclusive; OpenSSL ends before it'],
  ['authority/no-key-usage', 'RFC 5280 §4.2.1.3 binds CAs; -x509_strict holds verifiers to it'],
]);
