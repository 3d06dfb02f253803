// SPDX-License-Identifier: Apache-2.0
import { serialDigits } from '#base/hex-digits.ts';

/**
 * Returns a serial number in lower-case hexadecimal digits without leading zeros: one spelling for
 * all sources.
 */
export function serialText(serial: Uint8Array): string {
  return withoutZeros(Buffer.from(serial).toString('hex'));
}

/** Returns {@link serialText} of any spelling that OpenSSL and browsers print. */
export function canonicalSerial(text: string): string {
  return withoutZeros(serialDigits(text));
}

function withoutZeros(hex: string): string {
  const digits = hex.replace(/^0+/, '');
  return digits === '' ? '0' : digits;
}

/** Returns the contents of the INTEGER: big-endian, as short as possible, not negative. */
export function serialBytes(text: string): Uint8Array {
  const digits = canonicalSerial(text);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  return (bytes[0] ?? 0) < 0x80 ? Uint8Array.from(bytes) : Uint8Array.of(0, ...bytes);
}
