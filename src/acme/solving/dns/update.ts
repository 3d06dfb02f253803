// SPDX-License-Identifier: Apache-2.0
/** Dynamic updates (RFC 2136). dns-packet lacks class NONE, which removes a record. */
import { randomInt } from 'node:crypto';
import { HEADER_OCTETS } from './message.ts';

/** A change of one value of a TXT record set. Other values stay. */
export interface TxtChange {
  /** Zone of the record. */
  readonly zone: string;
  readonly name: string;
  readonly value: string;
  readonly change: 'add' | 'remove';
}

const OPCODE_UPDATE = 5 << 11;
const TYPE_SOA = 6;
const TYPE_TXT = 16;
const CLASS_IN = 1;
/** Class that deletes a record (RFC 2136 §2.5.4). */
const CLASS_NONE = 254;
/**
 * TTL in seconds. A value exists for minutes, and a resolver with an incomplete set must query
 * again soon.
 */
const TTL = 60;

/** Encodes an unsigned message. Names must be DNS names, and the value has at most 255 octets. */
export function encodeUpdate({ zone, name, value, change }: TxtChange): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUInt16BE(randomInt(0x1_0000), 0);
  header.writeUInt16BE(OPCODE_UPDATE, 2);
  // ZOCOUNT and UPCOUNT (§2.2).
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 8);
  const text = Buffer.from(value, 'latin1');
  const adds = change === 'add';
  return Buffer.concat([
    header,
    encodeName(zone),
    uint16s(TYPE_SOA, CLASS_IN),
    encodeName(name),
    uint16s(TYPE_TXT, adds ? CLASS_IN : CLASS_NONE, 0, adds ? TTL : 0, text.length + 1),
    Buffer.from([text.length]),
    text,
  ]);
}

/** Encodes a name in lower case without compression, as RFC 8945 §4.3.3 signs it. */
export function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.toLowerCase().split('.');
  const parts = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
  );
  return Buffer.concat([...parts, Buffer.from([0])]);
}

export function uint16s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}
