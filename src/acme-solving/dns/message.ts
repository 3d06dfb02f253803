// SPDX-License-Identifier: Apache-2.0
/**
 * Messages of DNS, as far as solvers need them (RFC 1035 §4). dns-packet reads and writes them; what strangers answer
 * is bounded here, and never throws.
 */
import { randomInt } from 'node:crypto';
import packet, { type Answer, type DecodedPacket } from 'dns-packet';
import { messageOf } from '../../errors.ts';
import { quote } from '../../quote.ts';

/** Types of records that solvers ask for. */
export type RecordType = 'A' | 'AAAA' | 'NS' | 'SOA' | 'CNAME' | 'TXT';

/** What a server is asked. */
export interface Question {
  /** Without a dot at its end. */
  readonly name: string;
  readonly type: RecordType;
  /** Whether the server is a resolver, which is to ask others. */
  readonly recursive: boolean;
}

/** A record of an answer. */
export interface DnsRecord {
  /** In small letters, without a dot at its end; empty for the root. */
  readonly name: string;
  readonly type: RecordType;
  /** TXT: its strings put together, one character an octet. SOA: its primary server. Else a name or an address. */
  readonly value: string;
}

/** What a server answered. */
export interface DnsAnswer {
  readonly kind: 'answer';
  /** Such as NOERROR (RFC 6895 §2.3). */
  readonly rcode: string;
  /** Whether the server says that the zone is its own. */
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answers: readonly DnsRecord[];
  /** The second section: who is to be asked instead, or the zone in which there is nothing. */
  readonly authority: readonly DnsRecord[];
}

/** There is no answer, or none that can be read. */
export interface NoDnsAnswer {
  readonly kind: 'none';
  /** What happened, as the end of a sentence that begins with the server. */
  readonly problem: string;
}

/** Octets before the first question. */
export const HEADER_OCTETS = 12;
/** Answers over UDP that no path has to cut (the flag day of 2020). */
const UDP_OCTETS = 1232;
/** Records of a section that are looked at: a name that is proved has a handful. */
const MAX_RECORDS = 256;
/** RFC 1035 §2.3.4, without the dot at the end. */
const MAX_NAME = 253;
/** A letter, digit, hyphen or underscore: all that names of hosts and of challenges have. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** `name` in small letters and without a dot at its end. */
export function canonicalName(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}

/** Whether DNS can be asked for it. */
export function isDnsName(name: string): boolean {
  return name.length <= MAX_NAME && name.split('.').every((label) => LABEL.test(label));
}

/** Whether `name` is `zone`, or below it. Both canonical. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`);
}

/** A query with an id that cannot be guessed (RFC 5452 §9.2). `question.name` must be a DNS name. */
export function encodeQuery({ name, type, recursive }: Question): Buffer {
  return packet.encode({
    type: 'query',
    id: randomInt(0x1_0000),
    flags: recursive ? packet.RECURSION_DESIRED : 0,
    questions: [{ name, type, class: 'IN' }],
    additionals: [
      {
        ...{ name: '.', type: 'OPT', udpPayloadSize: UDP_OCTETS, options: [] },
        ...{ extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false },
      },
    ],
  });
}

/** Whether `message` answers `query`: its id, and that it is an answer. */
export function answersTo(query: Uint8Array, message: Uint8Array): boolean {
  const isResponse = ((message[2] ?? 0) & 0x80) !== 0;
  return (
    message.length >= HEADER_OCTETS &&
    isResponse &&
    message[0] === query[0] &&
    message[1] === query[1]
  );
}

/** Reads an answer of a stranger. */
export function decodeAnswer(message: Uint8Array): DnsAnswer | NoDnsAnswer {
  try {
    const decoded = packet.decode(Buffer.from(message));
    return {
      kind: 'answer',
      rcode: rcodeOf(decoded),
      authoritative: decoded.flag_aa,
      truncated: decoded.flag_tc,
      answers: recordsOf(decoded.answers),
      authority: recordsOf(decoded.authorities),
    };
  } catch (error) {
    return { kind: 'none', problem: `sends no DNS message: ${quote(messageOf(error))}` };
  }
}

/** Missing in the package's types. */
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
  return Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)));
}
