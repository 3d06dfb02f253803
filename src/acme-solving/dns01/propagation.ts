// SPDX-License-Identifier: Apache-2.0
/** Whether every server has the record of a challenge, and which one has not: decided from what they answered. */
import { quoteList } from '../../quote.ts';
import type { DnsAnswer, NoDnsAnswer } from '../dns/message.ts';
import { endOf, extendPath, nameForPeople, type Delegation } from './delegation.ts';

/** What one server answered. */
export interface Asked {
  /** Its name for people. */
  readonly server: string;
  readonly answer: DnsAnswer | NoDnsAnswer;
}

/** What is sought. */
export interface Wanted {
  /** From the name of the record to where it is. */
  readonly path: Delegation['path'];
  /** Whether one of the values is the one that is wanted. */
  readonly isThere: (values: readonly string[]) => boolean;
  /** Whose servers they are, such as `of example.com`. */
  readonly whose: string;
  /** Whether each must say that the zone is its own: resolvers do not. */
  readonly authoritative: boolean;
  /** Whether servers that do not answer are waited for. */
  readonly waitsForSilent: boolean;
}

/** A value of DNS-01 (RFC 8555 §8.4): a digest as base64url. Others may be none of the reader's business. */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;
/** Servers that a message names. */
const NAMED_SERVERS = 3;

/**
 * A server that answers must have the record. One that does not answer, or not for this zone, is passed over by resolvers;
 * it is waited for at first, and then as little as they do.
 *
 * @returns undefined where the record is there; else the sentence that says where it is not
 */
export function whatIsMissing(asked: readonly Asked[], wanted: Wanted): string | undefined {
  const seen = asked.map(({ server, answer }) => ({ server, ...judge(answer, wanted) }));
  const wrong = seen.filter(({ found }) => found === 'wrong');
  const silent = seen.filter(({ found }) => found === 'silent');
  const hasRight = seen.some(({ found }) => found === 'right');
  const counted = wanted.waitsForSilent || !hasRight ? [...wrong, ...silent] : wrong;
  if (counted.length === 0 && hasRight) return undefined;
  const sentences = counted.slice(0, NAMED_SERVERS).map(({ server, says }) => `${server} ${says}`);
  const more = counted.length - sentences.length;
  const all = more > 0 ? [...sentences, `${more} more`] : sentences;
  const count = `${counted.length} of ${asked.length} server${asked.length === 1 ? '' : 's'}`;
  return `the TXT record ${pathForPeople(wanted.path)} is not seen on ${count} ${wanted.whose}: ${all.join('; ')}`;
}

/** How a delegation is shown. */
export function pathForPeople(path: Delegation['path']): string {
  const [name, ...targets] = path.map(nameForPeople);
  return targets.length === 0 ? `${name}` : `${name} (CNAME to ${targets.join(', to ')})`;
}

interface Judged {
  readonly found: 'right' | 'wrong' | 'silent';
  /** The rest of a sentence that begins with the server. */
  readonly says: string;
}

function judge(answer: DnsAnswer | NoDnsAnswer, wanted: Wanted): Judged {
  if (answer.kind === 'none') return { found: 'silent', says: answer.problem };
  const { rcode, answers, authoritative } = answer;
  if (rcode === 'NXDOMAIN') return { found: 'wrong', says: 'answers that there is no such name' };
  if (rcode !== 'NOERROR') return { found: 'silent', says: `answers ${rcode}` };
  if (wanted.authoritative && !authoritative)
    return { found: 'silent', says: 'is not authoritative for the zone' };
  const path = extendPath([endOf(wanted.path)], answers) ?? wanted.path;
  const values = answers
    .filter(({ name, type }) => type === 'TXT' && name === endOf(path))
    .map(({ value }) => value);
  return wanted.isThere(values)
    ? { found: 'right', says: '' }
    : { found: 'wrong', says: otherValues(values) };
}

function otherValues(values: readonly string[]): string {
  if (values.length === 0) return 'answers that the name has no TXT record';
  const digests = values.filter((value) => DIGEST.test(value)).sort();
  const shown = digests.length === 0 ? '' : `, ${quoteList(digests)}`;
  return `answers ${values.length} other value${values.length === 1 ? '' : 's'}${shown}`;
}
