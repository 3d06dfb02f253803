// SPDX-License-Identifier: Apache-2.0

/**
 * Labels before the digits: `serial=` and `sha256 Fingerprint=` of `openssl x509`, `Serial Number:`
 * of `openssl x509 -text` and of browsers, `SHA-256 Fingerprint:` of browsers and keytool, and the
 * `sha256:` of this project.
 */
const LABEL = /^(?:serial(?: ?number)?\s*[:=]|sha-?256(?: fingerprint)?\s*[:=])\s*/;
/** `4096 (0x1000)`, as `openssl x509 -text` writes a serial number of up to eight octets. */
const BOTH_BASES = /^\d+ \(0x([0-9a-f]+)\)$/;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Returns the lower-case hexadecimal digits of a serial number or a SHA-256 fingerprint in the
 * spellings of OpenSSL, keytool and browsers: with a label, `0x`, colons or spaces. Other text
 * stays, so the caller checks that only digits remain.
 */
export function hexDigits(text: string): string {
  const value = text.trim().toLowerCase().replace(LABEL, '');
  const [, both] = BOTH_BASES.exec(value) ?? [];
  return both ?? value.replace(/^0x/, '').replaceAll(/[:\s]/g, '');
}

/** Returns `sha256:<64 digits>` for any spelling of {@link hexDigits}. Undefined if it is none. */
export function sha256Fingerprint(text: string): string | undefined {
  const digits = hexDigits(text);
  return SHA256.test(digits) ? `sha256:${digits}` : undefined;
}
