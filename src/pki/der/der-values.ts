// SPDX-License-Identifier: Apache-2.0
import type { SignerError } from '#base/errors.ts';
import { inputError, malformed } from './input-error.ts';

/**
 * The limit of an identifier, far above every registered one. With {@link MAX_OID_ARCS} it bounds
 * the dotted text.
 */
const MAX_OID_BYTES = 128;

/** The limit of arcs. The longest identifiers in use (under 1.3.6.1.4.1) have about 15. */
const MAX_OID_ARCS = 20;

/**
 * Checks that the contents of an INTEGER are minimal, without a redundant leading octet (X.690
 * §8.3.2).
 *
 * @param what - the name of the value in messages
 * @returns the same contents: big-endian two's complement, at least one octet
 * @throws SignerError DER_MALFORMED
 */
export function checkInteger(contents: Uint8Array, what: string): Uint8Array {
  const [first, second] = contents;
  if (first === undefined) throw malformed(`${what} is an empty INTEGER`);
  if (second === undefined) return contents;
  const superfluous =
    (first === 0 && (second & 0x80) === 0) || (first === 0xff && (second & 0x80) !== 0);
  if (superfluous) throw malformed(`${what} is an INTEGER that is not minimal`);
  return contents;
}

/**
 * Decodes the contents of an INTEGER from 0 to `max`.
 *
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED when it is negative, larger or not minimal
 */
export function smallInteger(contents: Uint8Array, what: string, max: number): number {
  checkInteger(contents, what);
  if (((contents[0] ?? 0) & 0x80) !== 0) throw malformed(`${what} is negative`);
  let value = 0;
  for (const octet of contents) {
    value = value * 256 + octet;
    if (value > max) throw malformed(`${what} is more than ${max}`);
  }
  return value;
}

/**
 * Decodes the contents of a BOOLEAN: one octet, 0x00 or 0xff (X.690 §11.1).
 *
 * @param what - the name of the value in messages
 * @throws SignerError DER_MALFORMED
 */
export function booleanOf(contents: Uint8Array, what: string): boolean {
  const [octet] = contents;
  if (contents.length !== 1 || (octet !== 0x00 && octet !== 0xff)) {
    throw malformed(`${what} is a BOOLEAN that is neither 00 nor ff`);
  }
  return octet === 0xff;
}

/**
 * Decodes the contents of a BIT STRING that must be a whole number of bytes, as keys and signatures
 * are (RFC 5280 §4.1.1.3, RFC 5480 §2.2).
 *
 * @param what - the name of the value in messages
 * @returns a view of the bytes
 * @throws SignerError DER_MALFORMED
 */
export function wholeBytes(contents: Uint8Array, what: string): Uint8Array {
  if (contents.length === 0) throw malformed(`${what} is an empty BIT STRING`);
  if (contents[0] !== 0) throw malformed(`${what} is not a whole number of bytes`);
  return contents.subarray(1);
}

/**
 * Decodes the contents of a BIT STRING with named bits. DER omits zero bits at the end (X.690
 * §11.2.2), but with them it means the same to every reader (X.680 §22.7), so they are accepted.
 * Unused bits that are set (§11.2.1) are not: Go rejects them, and OpenSSL ignores them. The caller
 * limits the length, because each bit costs a step.
 *
 * @param what - the name of the value in messages
 * @returns the numbers of the set bits, ascending
 * @throws SignerError DER_MALFORMED
 */
export function namedBits(contents: Uint8Array, what: string): readonly number[] {
  const unused = contents[0];
  const last = contents.at(-1) ?? 0;
  if (unused === undefined || unused > 7) throw malformed(`${what} is not a BIT STRING`);
  if (contents.length === 1) {
    if (unused !== 0) throw malformed(`${what} is empty but has unused bits`);
    return [];
  }
  if ((last & ((1 << unused) - 1)) !== 0)
    throw malformed(`${what} has unused bits that are set, which some readers reject`);
  const count = (contents.length - 1) * 8 - unused;
  return Array.from({ length: count }, (_, bit) => bit).filter(
    (bit) => ((contents[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0,
  );
}

/** Go's limit. If arithmetic on longer arcs wraps around, one identifier can pass for another. */
const MAX_ARC = 0x7fffffff;

/**
 * Decodes the contents of an OBJECT IDENTIFIER (X.690 §8.19).
 *
 * @param what - the name of the value in messages
 * @returns dotted decimal text, as in `2.5.29.17`
 * @throws SignerError DER_MALFORMED, or DER_LIMIT above 128 bytes, 20 arcs or 31 bits an arc
 */
export function oidOf(contents: Uint8Array, what: string): string {
  if (contents.length > MAX_OID_BYTES) throw tooLong(what);
  let dotted = '';
  let arcs = 0;
  let arc = 0;
  let isWhole = false;
  for (const octet of contents) {
    if (octet === 0x80 && arc === 0) throw malformed(`${what} has an arc that is not minimal`);
    arc = arc * 128 + (octet & 0x7f);
    if (arc > MAX_ARC || arcs >= MAX_OID_ARCS) throw tooLong(what);
    isWhole = octet < 0x80;
    if (!isWhole) continue;
    dotted += arcs === 0 ? rootArcs(arc) : `.${arc}`;
    arcs += 1;
    arc = 0;
  }
  if (!isWhole) throw malformed(`${what} is an OBJECT IDENTIFIER that ends in the middle`);
  return dotted;
}

/** Splits the first number into the first two arcs, which share it (X.690 §8.19.4). */
function rootArcs(first: number): string {
  const root = Math.min(2, Math.floor(first / 40));
  return `${root}.${first - root * 40}`;
}

function tooLong(what: string): SignerError {
  return inputError(
    'DER_LIMIT',
    `${what} is an OBJECT IDENTIFIER of more than ${MAX_OID_BYTES} bytes or ${MAX_OID_ARCS} arcs, or with an arc above ${MAX_ARC}`,
  );
}

/** Reads big-endian octets as an unsigned number. Without octets it is 0. */
export function unsignedBigInt(octets: Uint8Array): bigint {
  return BigInt(
    `0x0${Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('hex')}`,
  );
}
