// SPDX-License-Identifier: Apache-2.0

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** One encoded field: its tag and its value. */
export type Field = Uint8Array;

/** Concatenates fields to a message. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields);
}

/** Encodes a string field. Undefined gives no field. */
export function stringField(number: number, text: string | undefined): Field {
  if (text === undefined) return NOTHING;
  const { bytes, at } = delimited(number, Buffer.byteLength(text));
  bytes.write(text, at, 'utf8');
  return bytes;
}

/** Encodes a field of bytes, or of a nested message. */
export function bytesField(number: number, value: Uint8Array): Field {
  const { bytes, at } = delimited(number, value.length);
  bytes.set(value, at);
  return bytes;
}

/** Encodes a varint field. @param value - an integer from 0 to 2⁵³ */
export function integerField(number: number, value: number): Field {
  const tag = number * 8 + VARINT;
  const bytes = Buffer.allocUnsafe(octetsOf(tag) + octetsOf(value));
  writeVarint(bytes, writeVarint(bytes, 0, tag), value);
  return bytes;
}

const NOTHING = new Uint8Array(0);

/** Returns a field with room for a value of `length` bytes, and the position of the value. */
function delimited(
  number: number,
  length: number,
): { readonly bytes: Buffer; readonly at: number } {
  const tag = number * 8 + LENGTH_DELIMITED;
  const bytes = Buffer.allocUnsafe(octetsOf(tag) + octetsOf(length) + length);
  return { bytes, at: writeVarint(bytes, writeVarint(bytes, 0, tag), length) };
}

function octetsOf(value: number): number {
  let octets = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) octets += 1;
  return octets;
}

/** @returns the position after it */
function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes[at++] = (left % 0x80) | 0x80;
  bytes[at++] = left;
  return at;
}
