// SPDX-License-Identifier: Apache-2.0
/**
 * DNS messages, as far as solvers need them (RFC 1035 §4). dns-packet reads and writes them.
 * Reading is bounded and never throws, because any server may answer.
 */
import { randomInt } from 'node:crypto';
import packet, { type Answer, type DecodedPacket } from 'dns-packet';
import { messageOf } from '#base/errors.ts';
import * as messages from '../messages.ts';

/** Types of records that solvers query. */
export type RecordType = 'A' | 'AAAA' | 'NS' | 'SOA' | 'CNAME' | 'TXT';

/** A question to a server. */
export interface Question {
  /** Name without a final dot. */
  readonly name: string;
  readonly type: RecordType;
  /** Whether the server is a resolver that queries others. */
  readonly recursive: boolean;
}

/** A record of an answer. */
export interface DnsRecord {
  /** Name in lower case, without a final dot. Empty for the root. */
  readonly name: string;
  readonly type: RecordType;
  /**
   * TXT: its strings joined, one character an octet. SOA: the primary server. Otherwise a name or
   * an address.
   */
  readonly value: string;
}

/** Answer of a server. */
export interface DnsAnswer {
  readonly kind: 'answer';
  /** Response code such as NOERROR (RFC 6895 §2.3). */
  readonly rcode: string;
  /** Whether the server claims authority for the zone. */
  readonly authoritative: boolean;
  readonly truncated: boolean;
  /** The server claims to query others. Tests may leave it out. */
  readonly recursionAvailable?: boolean;
  readonly answers: readonly DnsRecord[];
  /** Authority section: a referral, or the zone that lacks the name. */
  readonly authority: readonly DnsRecord[];
}

/** A missing or unreadable answer. */
export interface NoDnsAnswer {
  readonly kind: 'none';
  /** Cause, as the end of a sentence that starts with the server. */
  readonly problem: string;
}

/** Octets before the first question. */
export const HEADER_OCTETS = 12;
/** Largest UDP answer without fragmentation on any path (DNS flag day 2020). */
const UDP_OCTETS = 1232;
/** Limit on records of a section. A name to prove has a handful. */
const MAX_RECORDS = 256;
/** Limit of RFC 1035 §2.3.4, without the final dot. */
const MAX_NAME = 253;
/** Letters, digits, hyphens, and underscores: all that names of hosts and challenges have. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** Returns `name` in lower case, without a final dot. */
export function canonicalName(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}

/** Reports whether DNS can be queried for the name. */
export function isDnsName(name: string): boolean {
  return name.length <= MAX_NAME && name.split('.').every((label) => LABEL.test(label));
}

/** Reports whether `name` is `zone`, or below it. Both are canonical. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`);
}

/** Encodes a query with an unpredictable id (RFC 5452 §9.2). `question.name` must be a DNS name. */
export function encodeQuery({ name, type, recursive }: Question): Buffer {
  return packet.encode({
    type: 'query',
    id: randomInt(0x1_0000),
    flags: recursive ? packet.RECURSION_DESIRED : 0,
    questions: [{ name, type, class: 'IN' }],
    additionals: [
      {
        name: '.',
        type: 'OPT',
        udpPayloadSize: UDP_OCTETS,
        options: [],
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
      },
    ],
  });
}

/** Reports whether `message` is a response with the id of `query`. */
export function answersTo(query: Uint8Array, message: Uint8Array): boolean {
  const isResponse = ((message[2] ?? 0) & 0x80) !== 0;
  return (
    message.length >= HEADER_OCTETS &&
    isResponse &&
    message[0] === query[0] &&
    message[1] === query[1]
  );
}

/** Reads the answer of an untrusted server. */
export function decodeAnswer(message: Uint8Array): DnsAnswer | NoDnsAnswer {
  try {
    const decoded = packet.decode(Buffer.from(message));
    return {
      kind: 'answer',
      rcode: rcodeOf(decoded),
      authoritative: decoded.flag_aa,
      truncated: decoded.flag_tc,
      recursionAvailable: decoded.flag_ra,
      answers: recordsOf(decoded.answers),
      authority: recordsOf(decoded.authorities),
    };
  } catch (error) {
    return { kind: 'none', problem: messages.invalidDnsMessage(messageOf(error)) };
  }
}

/** Returns the response code, which the package's types lack. */
function rcodeOf(decoded: DecodedPacket): string {
  return 'rcode' in decoded && typeof decoded.rcode === 'string' ? decoded.rcode : 'NOERROR';
}

function recordsOf(all: readonly Answer[] | undefined = []): readonly DnsRecord[] {
  return all
    .slice(0, MAX_RECORDS)
    .map(recordOf)
    .filter((record) => record !== undefined);
}

function recordOf(answer: Answer): DnsRecord | undefined {
  if (answer.type === 'OPT' || answer.class !== 'IN') return undefined;
  const name = canonicalName(answer.name);
  const { type, data } = answer;
  if (type === 'A' || type === 'AAAA') return { name, type, value: data };
  if (type === 'NS' || type === 'CNAME') return { name, type, value: canonicalName(data) };
  if (type === 'SOA') return { name, type, value: canonicalName(data.mname) };
  if (type === 'TXT') return { name, type, value: octetsOf(data).toString('latin1') };
  return undefined;
}

function octetsOf(data: string | Buffer | readonly (string | Buffer)[]): Buffer {
  const parts = typeof data === 'string' || Buffer.isBuffer(data) ? [data] : data;
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}
