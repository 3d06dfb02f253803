// SPDX-License-Identifier: Apache-2.0

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** One field with its value, as a message holds it. */
export type Field = Uint8Array;

/** Fields one after the other are a message. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields);
}

export function stringField(number: number, text: string | undefined): Field {
  return text === undefined ? NOTHING : bytesField(number, Buffer.from(text, 'utf8'));
}

/** Bytes, or another message. */
export function bytesField(number: number, value: Uint8Array): Field {
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(value.length), value]);
}

/** A whole number from 0 to 2⁵³. */
export function integerField(number: number, value: number): Field {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)]);
}

const NOTHING = new Uint8Array(0);

function varint(value: number): Uint8Array {
  const octets: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) octets.push((left % 0x80) | 0x80);
  octets.push(left);
  return Uint8Array.from(octets);
}
