// SPDX-License-Identifier: Apache-2.0
import { unsigned } from './curves.ts';

const P = 2n ** 255n - 19n;

/** y of the points of order 8; −y belongs to the other two (libsodium has the same list). */
const Y8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;

/** y modulo p of the eight points whose order divides 8 (RFC 7748 §7 speaks of the danger). */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, Y8, P - Y8]);

/** Whether 32 octets encode a point of small order, canonically (RFC 8032 §5.1.2) or not. */
export function isSmallOrder(encoded: Uint8Array): boolean {
  const bigEndian = Uint8Array.from(encoded).reverse();
  bigEndian[0] = (bigEndian[0] ?? 0) & 0x7f;
  return SMALL_ORDER.has(unsigned(bigEndian) % P);
}
