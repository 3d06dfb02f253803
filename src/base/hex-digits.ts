// SPDX-License-Identifier: Apache-2.0

/** `serial=` of `openssl x509`, and `Serial Number:` of `openssl x509 -text` and of browsers. */
const SERIAL_LABEL = /^serial(?: ?number)?\s*[:=]\s*/;
/**
 * `sha256 Fingerprint=` of `openssl x509`, `SHA-256 Fingerprint:` of browsers and keytool, and the
 * `sha256:` of this project.
 */
const FINGERPRINT_LABEL = /^sha-?256(?: fingerprint)?\s*[:=]\s*/;
/** `4096 (0x1000)`, as `openssl x509 -text` writes a serial number of up to eight octets. */
const BOTH_BASES = /^(\d+) \(0x([0-9a-f]+)\)$/;
const PAIRS = /^[0-9a-f]{2}(?:[: ][0-9a-f]{2})+$/;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Returns the lower-case hexadecimal digits of a serial number in the spellings of OpenSSL and
 * browsers: with a label, `0x`, or separators between pairs of digits. Other text stays, such as
 * two serial numbers or a labelled fingerprint, so the caller checks that only digits remain.
 */
export function serialDigits(text: string): string {
  const value = text.trim().toLowerCase().replace(SERIAL_LABEL, '');
  const [, decimal = '', both = ''] = BOTH_BASES.exec(value) ?? [];
  if (both !== '' && BigInt(decimal) === BigInt(`0x${both}`)) return both;
  return PAIRS.test(value) ? value.replaceAll(/[: ]/g, '') : value.replace(/^0x/, '');
}

/**
 * Returns the lower-case hexadecimal digits of a SHA-256 fingerprint, or of its beginning, in the
 * spellings of OpenSSL, keytool and browsers: with a label, `0x`, colons or spaces. Other text
 * stays, so the caller checks that only digits remain.
 */
export function fingerprintDigits(text: string): string {
  const value = text.trim().toLowerCase().replace(FINGERPRINT_LABEL, '');
  return value.replace(/^0x/, '').replaceAll(/[:\s]/g, '');
}

/**
 * Returns `sha256:<64 digits>` for any spelling of {@link fingerprintDigits}. Undefined if it is
 * none.
 */
export function sha256Fingerprint(text: string): string | undefined {
  const digits = fingerprintDigits(text);
  return SHA256.test(digits) ? `sha256:${digits}` : undefined;
}
