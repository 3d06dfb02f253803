// SPDX-License-Identifier: Apache-2.0
/** Message signatures with a shared key: TSIG (RFC 8945). No maintained package for Node has it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { HEADER_OCTETS } from './message.ts';
import { encodeName, uint16s } from './update.ts';

/** A key shared with a DNS server. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: 'HMAC-SHA256' | 'HMAC-SHA384' | 'HMAC-SHA512';
  readonly secret: Uint8Array;
}

/** A message with its signature. */
export interface SignedMessage {
  readonly message: Buffer;
  /** Signature of the message. The signature of the answer covers it, too. */
  readonly mac: Buffer;
}

/**
 * Result of verifying an answer's signature.
 *
 * - `good`: the answer is the server's, and complete
 * - `none`: the answer has no signature
 * - `bad`: another key signed it, or the answer was changed
 * - `refused`: the server could not verify our signature
 */
export type TsigVerdict =
  | { readonly tsig: 'good' }
  | { readonly tsig: 'none' }
  | { readonly tsig: 'bad' }
  | {
      readonly tsig: 'refused';
      readonly error: 'BADKEY' | 'BADSIG' | 'BADTIME' | 'BADTRUNC' | 'other';
      /** Seconds that the server's clock is ahead of ours, if it gives its time. */
      readonly aheadSeconds?: number;
    };

const TYPE_TSIG = 250;
const CLASS_ANY = 255;
/** Seconds that clocks may differ (RFC 8945 §10). */
const FUDGE = 300;
const ERRORS: Readonly<Record<number, 'BADSIG' | 'BADKEY' | 'BADTIME' | 'BADTRUNC'>> = {
  16: 'BADSIG',
  17: 'BADKEY',
  18: 'BADTIME',
  22: 'BADTRUNC',
};

/** The TSIG record of a message, and the message without its signature. */
interface TsigParts {
  readonly unsigned: Buffer;
  readonly record: TsigRecord;
}

interface TsigRecord {
  /** Seconds since 1970. */
  readonly time: number;
  readonly fudge: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
}

/** @param now - seconds since 1970 */
export function signMessage(message: Buffer, key: TsigKey, now: number): SignedMessage {
  const record = { time: now, fudge: FUDGE, error: 0, other: Buffer.alloc(0) };
  const mac = macOf(key, [message, variables(key, record)]);
  const data = Buffer.concat([
    encodeName(algorithmName(key)),
    time48(now),
    uint16s(FUDGE, mac.length),
    mac,
    uint16s(message.readUInt16BE(0), 0, 0),
  ]);
  const signed = Buffer.concat([
    message,
    encodeName(key.name),
    uint16s(TYPE_TSIG, CLASS_ANY, 0, 0, data.length),
    data,
  ]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return { message: signed, mac };
}

/**
 * Verifies the answer to a signed message (RFC 8945 §5.3.1).
 *
 * @param requestMac - signature of the request
 * @param now - seconds since 1970
 */
export function verifyAnswer(
  answer: Buffer,
  key: TsigKey,
  requestMac: Buffer,
  now: number,
): TsigVerdict {
  const found = findTsig(answer);
  if (found === undefined) return { tsig: 'none' };
  const { unsigned, record } = found;
  // A server that cannot verify a signature sends an unsigned answer (§5.2).
  if (record.error !== 0) return refusal(record, now);
  const prefix = [uint16s(requestMac.length), requestMac];
  const expected = macOf(key, [...prefix, unsigned, variables(key, record)]);
  const isGood =
    expected.length === record.mac.length &&
    timingSafeEqual(expected, record.mac) &&
    Math.abs(now - record.time) <= record.fudge;
  return { tsig: isGood ? 'good' : 'bad' };
}

function refusal(record: TsigRecord, now: number): TsigVerdict {
  const error = ERRORS[record.error] ?? 'other';
  if (error !== 'BADTIME' || record.other.length !== 6) return { tsig: 'refused', error };
  return { tsig: 'refused', error, aheadSeconds: record.other.readUIntBE(0, 6) - now };
}

function macOf(key: TsigKey, parts: readonly Uint8Array[]): Buffer {
  const hmac = createHmac(key.algorithm.slice('HMAC-'.length).toLowerCase(), key.secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** Returns the TSIG variables of a digest (RFC 8945 §4.3.3). */
function variables(
  key: TsigKey,
  { time, fudge, error, other }: Pick<TsigRecord, 'time' | 'fudge' | 'error' | 'other'>,
): Buffer {
  return Buffer.concat([
    encodeName(key.name),
    uint16s(CLASS_ANY, 0, 0),
    encodeName(algorithmName(key)),
    time48(time),
    uint16s(fudge, error, other.length),
    other,
  ]);
}

function algorithmName({ algorithm }: TsigKey): string {
  return algorithm.toLowerCase();
}

function time48(seconds: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(seconds, 0, 6);
  return bytes;
}

/**
 * Returns the TSIG record, which is the last of a message (RFC 8945 §5.1). Returns undefined for
 * none, or an unreadable message.
 */
function findTsig(message: Buffer): TsigParts | undefined {
  try {
    const start = lastRecord(message);
    if (start === undefined) return undefined;
    const type = afterName(message, start);
    if (message.readUInt16BE(type) !== TYPE_TSIG) return undefined;
    const record = readTsig(message.subarray(type + 10));
    const unsigned = Buffer.from(message.subarray(0, start));
    unsigned.writeUInt16BE(record.originalId, 0);
    unsigned.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
    return { unsigned, record };
  } catch (error) {
    // node:buffer throws it for a read beyond the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readTsig(data: Buffer): TsigRecord {
  const at = afterName(data, 0);
  const macLength = data.readUInt16BE(at + 8);
  const rest = at + 10 + macLength;
  const otherLength = data.readUInt16BE(rest + 4);
  return {
    time: data.readUIntBE(at, 6),
    fudge: data.readUInt16BE(at + 6),
    mac: data.subarray(at + 10, rest),
    originalId: data.readUInt16BE(rest),
    error: data.readUInt16BE(rest + 2),
    other: data.subarray(rest + 6, rest + 6 + otherLength),
  };
}

/**
 * Returns the start of the last record in the last section, or undefined if that section is empty.
 */
function lastRecord(message: Buffer): number | undefined {
  if (message.length < HEADER_OCTETS || message.readUInt16BE(10) === 0) return undefined;
  let at = HEADER_OCTETS;
  for (let left = message.readUInt16BE(4); left > 0; left -= 1) at = afterName(message, at) + 4;
  const records = [6, 8, 10].map((offset) => message.readUInt16BE(offset));
  for (let left = records.reduce((sum, each) => sum + each, 0); left > 1; left -= 1) {
    const type = afterName(message, at);
    at = type + 10 + message.readUInt16BE(type + 8);
  }
  return at;
}

/** Returns the end of a name: after its root, or after a pointer (RFC 1035 §4.1.4). */
function afterName(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message.readUInt8(at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
  }
}
