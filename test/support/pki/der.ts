// SPDX-License-Identifier: Apache-2.0
/**
 * DER by hand, for tests: it writes any value, invalid ones too, and shares no code with
 * src/pki.
 */
export type Octets = Uint8Array | readonly number[];

/** A value with the minimal length. */
export function tlv(tag: number, ...parts: readonly Octets[]): Uint8Array {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return new Uint8Array(Buffer.concat([Uint8Array.of(tag), lengthOctets(content.length), content]));
}

/** A value whose length octets are given: BER forms, lies. */
export function tlvWithLength(tag: number, length: Octets, content: Octets): Uint8Array {
  return Uint8Array.from([tag, ...length, ...content]);
}

export function lengthOctets(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(0x80 | octets.length, ...octets);
}

export const seq = (...parts: readonly Octets[]): Uint8Array => tlv(0x30, ...parts);
export const set = (...parts: readonly Octets[]): Uint8Array => tlv(0x31, ...parts);
export const int = (...octets: readonly number[]): Uint8Array => tlv(0x02, octets);
export const bits = (content: Octets, unused = 0): Uint8Array => tlv(0x03, [unused], content);
export const octets = (content: Octets): Uint8Array => tlv(0x04, content);
export const NULL = tlv(0x05);
export const TRUE = tlv(0x01, [0xff]);
export const utf8 = (text: string): Uint8Array => tlv(0x0c, Buffer.from(text));
export const printable = (text: string): Uint8Array => tlv(0x13, Buffer.from(text, 'latin1'));
export const ia5 = (text: string): Uint8Array => tlv(0x16, Buffer.from(text, 'latin1'));
export const utcTime = (text: string): Uint8Array => tlv(0x17, Buffer.from(text));
export const generalizedTime = (text: string): Uint8Array => tlv(0x18, Buffer.from(text));
export const explicit = (n: number, ...parts: readonly Octets[]): Uint8Array =>
  tlv(0xa0 | n, ...parts);
export const implicit = (n: number, content: Octets): Uint8Array => tlv(0x80 | n, content);

export function oid(dotted: string): Uint8Array {
  const [root = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, [root * 40 + second, ...rest].flatMap(base128));
}

export function base128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift(0x80 | (rest % 128));
  }
  return digits;
}

/** One RDN of one attribute. */
export const rdn = (type: string, value: Uint8Array): Uint8Array => set(seq(oid(type), value));

export const extension = (type: string, value: Octets, critical = false): Uint8Array =>
  seq(oid(type), ...(critical ? [TRUE] : []), octets(value));
