// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { sameBytes } from '#base/bytes.ts';
import { OID_P256, OID_P384, OID_P521 } from '../der/oids.ts';
import { unsignedBigInt } from '../der/der-values.ts';

/** A NIST prime curve y² = x³ − 3x + b over the field of p (SP 800-186 §3.2.1). */
export interface Curve {
  readonly keyType: 'ECDSAP256' | 'ECDSAP384' | 'ECDSAP521';
  /** Bits of p. */
  readonly bits: number;
  /** Octets of a coordinate. */
  readonly octets: number;
  /** The prime of the field. */
  readonly p: bigint;
  /** The constant of the equation. */
  readonly b: bigint;
}

/**
 * The supported curves by their OID. P-224 is missing: Go reads it, but Kubernetes does not know
 * it.
 */
export const CURVES: ReadonlyMap<string, Curve> = new Map<string, Curve>([
  [
    OID_P256,
    {
      keyType: 'ECDSAP256',
      bits: 256,
      octets: 32,
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  ],
  [
    OID_P384,
    {
      keyType: 'ECDSAP384',
      bits: 384,
      octets: 48,
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    OID_P521,
    {
      keyType: 'ECDSAP521',
      bits: 521,
      octets: 66,
      p: 2n ** 521n - 1n,
      b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
]);

const UNCOMPRESSED = 0x04;

/**
 * Reports whether the octets are an uncompressed point of the curve (RFC 5480 §2.2): both
 * coordinates are below p, and the equation holds. The cofactor is 1, so every such point has the
 * right order (NIST SP 800-56A §5.6.2.3.3). node:crypto checks the same when it imports a key,
 * which takes 15 times as long.
 *
 * @param point - the contents of the subjectPublicKey BIT STRING
 */
export function isOnCurve(curve: Curve, point: Uint8Array): boolean {
  if (point.length !== 1 + 2 * curve.octets || point[0] !== UNCOMPRESSED) return false;
  const last = lastPoints.get(curve);
  if (sameBytes(last, point)) return true;
  if (!satisfies(curve, point)) return false;
  lastPoints.set(curve, Uint8Array.from(point));
  return true;
}

/**
 * A module-level cache of the last valid point of each curve. The key of a request is checked again
 * a moment later, when the leaf with it is read.
 */
const lastPoints = new BoundedMap<Curve, Uint8Array>(CURVES.size);

function satisfies(curve: Curve, point: Uint8Array): boolean {
  const x = unsignedBigInt(point.subarray(1, 1 + curve.octets));
  const y = unsignedBigInt(point.subarray(1 + curve.octets));
  const { p, b } = curve;
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

const P = 2n ** 255n - 19n;

/** y of two points of order 8. −y belongs to the other two (libsodium has the same list). */
const Y8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;

/** y modulo p of the eight points whose order divides 8. RFC 7748 §7 explains the danger. */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, Y8, P - Y8]);

/**
 * Reports whether an Ed25519 key is a point of small order, in canonical encoding (RFC 8032 §5.1.2)
 * or not. Signatures by such a key verify without knowledge of a private key.
 *
 * @param encoded - 32 octets
 */
export function isSmallOrder(encoded: Uint8Array): boolean {
  const bigEndian = Uint8Array.from(encoded).reverse();
  bigEndian[0] = (bigEndian[0] ?? 0) & 0x7f;
  return SMALL_ORDER.has(unsignedBigInt(bigEndian) % P);
}
