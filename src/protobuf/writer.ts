// SPDX-License-Identifier: Apache-2.0

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** One encoded field: its tag and its value. */
export type Field = Uint8Array;

/** A message is the concatenation of its fields. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields);
}

/** A string field; no field for undefined. */
export function stringField(number: number, text: string | undefined): Field {
  if (text === undefined) return NOTHING;
  const { bytes, at } = delimited(number, Buffer.byteLength(text));
  bytes.write(text, at, 'utf8');
  return bytes;
}

/** A field of bytes, or of a nested message. */
export function bytesField(number: number, value: Uint8Array): Field {
  const { bytes, at } = delimited(number, value.length);
  bytes.set(value, at);
  return bytes;
}

/** A varint field. @param value - an integer from 0 to 2⁵³ */
export function integerField(number: number, value: number): Field {
  const tag = number * 8 + VARINT;
  const bytes = Buffer.allocUnsafe(octetsOf(tag) + octetsOf(value));
  writeVarint(bytes, writeVarint(bytes, 0, tag), value);
  return bytes;
}

const NOTHING = new Uint8Array(0);

/** A field with room for a value of `length` bytes, and where the value begins. */
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

/** @returns where it ends */
function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes[at++] = (left % 0x80) | 0x80;
  bytes[at++] = left;
  return at;
}
