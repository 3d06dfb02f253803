// SPDX-License-Identifier: Apache-2.0
import type { Dice } from './dice.ts';

/** Octets that mean something: tags, lengths, ends of ranges. */
const TELLING = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x2a, 0x30, 0x31,
  0x3f, 0x40, 0x7f, 0x80, 0x81, 0x82, 0x83, 0x84, 0x86, 0x88, 0xa0, 0xa1, 0xa3, 0xfe, 0xff,
];

type Mutation = (bytes: Uint8Array, at: number, dice: Dice) => Uint8Array;

const without = (bytes: Uint8Array, at: number, count: number): Uint8Array =>
  Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + count)]);
const put = (bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

function replaced(bytes: Uint8Array, at: number, octet: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (at < copy.length) copy[at] = octet;
  return copy;
}

const MUTATIONS: readonly Mutation[] = [
  (bytes, at, dice) => replaced(bytes, at, (bytes[at] ?? 0) ^ (1 << dice.roll(8))),
  (bytes, at, dice) => replaced(bytes, at, dice.of(TELLING)),
  (bytes, at, dice) => replaced(bytes, at, ((bytes[at] ?? 0) + dice.of([1, 255])) & 0xff),
  (bytes, at, dice) => without(bytes, at, 1 + dice.roll(4)),
  (bytes, at, dice) => put(bytes, at, Uint8Array.of(dice.of(TELLING))),
  (bytes, at, dice) => put(bytes, at, bytes.subarray(at, at + 1 + dice.roll(8))),
  (bytes, at) => bytes.subarray(0, at),
];

/** One change of octets, whatever they mean. */
export function mutateBytes(bytes: Uint8Array, dice: Dice): Uint8Array {
  return dice.of(MUTATIONS)(bytes, dice.roll(bytes.length + 1), dice);
}
