// SPDX-License-Identifier: Apache-2.0
/**
 * DNS messages, as far as solvers need them (RFC 1035 §4). dns-packet writes them. Reading is
 * bounded and never throws, because any server may answer. dns-packet reads records of every type
 * and limits no compression pointers, so one message could keep it busy for a second.
 */
import { randomInt } from 'node:crypto';
import packet from 'dns-packet';
import { messageOf } from '#base/errors.ts';
import { formatIp } from '#base/ip.ts';
import { DnsReader } from './dns-reader.ts';
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
/** Types that solvers query, by number (RFC 1035 §3.2.2, RFC 3596 §2.1). */
const TYPES: Readonly<Record<number, RecordType>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  16: 'TXT',
  28: 'AAAA',
};
const CLASS_IN = 1;
const ADDRESS_OCTETS = { A: 4, AAAA: 16 };
/** Names of response codes in their order (RFC 6895 §2.3). */
const RCODES = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
];
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
    return readAnswer(new DnsReader(Buffer.from(message)));
  } catch (error) {
    return { kind: 'none', problem: messages.invalidDnsMessage(messageOf(error)) };
  }
}

/** Reads no additional section. Its OPT and TSIG records are no answer. */
function readAnswer(reader: DnsReader): DnsAnswer {
  reader.skip(2);
  const flags = reader.uint16();
  const questions = reader.uint16();
  const [answers, authorities] = [reader.uint16(), reader.uint16()];
  if (answers > MAX_RECORDS || authorities > MAX_RECORDS)
    throw new Error(messages.dnsRecords(MAX_RECORDS));
  reader.skip(2);
  for (let left = questions; left > 0; left -= 1) {
    reader.skipName();
    reader.skip(4);
  }
  return {
    kind: 'answer',
    rcode: RCODES[flags & 0xf] ?? `RCODE_${flags & 0xf}`,
    authoritative: (flags & packet.AUTHORITATIVE_ANSWER) !== 0,
    truncated: (flags & packet.TRUNCATED_RESPONSE) !== 0,
    recursionAvailable: (flags & packet.RECURSION_AVAILABLE) !== 0,
    answers: readRecords(reader, answers),
    authority: readRecords(reader, authorities),
  };
}

function readRecords(reader: DnsReader, count: number): readonly DnsRecord[] {
  return Array.from({ length: count }, () => readRecord(reader)).filter(
    (record) => record !== undefined,
  );
}

/** Returns a record of class IN, or undefined for one that no solver queries. */
function readRecord(reader: DnsReader): DnsRecord | undefined {
  const owner = reader.skipName();
  const type = TYPES[reader.uint16()];
  const isInternet = reader.uint16() === CLASS_IN;
  reader.skip(4);
  const length = reader.uint16();
  const start = reader.skip(length);
  if (type === undefined || !isInternet) return undefined;
  const name = canonicalName(reader.nameAt(owner, start));
  return { name, type, value: readValue(reader, type, [start, start + length]) };
}

function readValue(
  reader: DnsReader,
  type: RecordType,
  [start, end]: readonly [start: number, end: number],
): string {
  if (type === 'TXT') return joinStrings(reader.octets(start, end));
  if (type !== 'A' && type !== 'AAAA') return canonicalName(reader.nameAt(start, end));
  const octets = reader.octets(start, end);
  const address = octets.length === ADDRESS_OCTETS[type] ? formatIp(octets) : undefined;
  if (address === undefined) throw new Error(messages.dnsAddress(type));
  return address;
}

/** Joins the strings of a TXT record (RFC 1035 §3.3.14). */
function joinStrings(data: Buffer): string {
  const parts: string[] = [];
  for (let at = 0; at < data.length;) {
    const end = at + 1 + data.readUInt8(at);
    if (end > data.length) throw new Error(messages.DNS_STRING);
    parts.push(data.toString('latin1', at + 1, end));
    at = end;
  }
  return parts.join('');
}
