// SPDX-License-Identifier: Apache-2.0
/** Decides from the answers whether every server has the record of a challenge. */
import type { DnsAnswer, NoDnsAnswer } from '../dns/message.ts';
import { endOf, extendPath, nameForPeople, type Delegation } from './delegation.ts';
import * as messages from '../messages.ts';

/** Answer of one server. */
export interface ServerAnswer {
  /** Name of the server, for people. */
  readonly server: string;
  readonly answer: DnsAnswer | NoDnsAnswer;
}

/** The record to find. */
export interface ExpectedRecord {
  /** CNAMEs from the name of the record to its place. */
  readonly place: Pick<Delegation, 'path' | 'ofWildcard'>;
  /** Reports whether the wanted value is among these. */
  readonly isThere: (values: readonly string[]) => boolean;
  /** Owner of the servers, such as `of example.com`. */
  readonly whose: string;
  /** Whether each server must be authoritative for the zone, which resolvers are not. */
  readonly authoritative: boolean;
  /** Whether to wait for silent servers. */
  readonly waitsForSilent: boolean;
}

/** Limit on servers in a message. */
const NAMED_SERVERS = 3;

/**
 * Returns the servers without the record. A server that answers must have it. Resolvers skip a
 * server that is silent or not authoritative, so the check waits for it only at first.
 *
 * @returns undefined if the record is there, or the sentence that names the servers without it
 */
export function missingAnswers(
  asked: readonly ServerAnswer[],
  wanted: ExpectedRecord,
): string | undefined {
  const seen = asked.map(({ server, answer }) => ({ server, ...judge(answer, wanted) }));
  const wrong = seen.filter(({ found }) => found === 'wrong');
  const silent = seen.filter(({ found }) => found === 'silent');
  const hasRight = seen.some(({ found }) => found === 'right');
  const counted = wanted.waitsForSilent || !hasRight ? [...wrong, ...silent] : wrong;
  if (counted.length === 0 && hasRight) return undefined;
  const sentences = counted.slice(0, NAMED_SERVERS).map(({ server, says }) => `${server} ${says}`);
  const more = counted.length - sentences.length;
  const all = more > 0 ? [...sentences, messages.moreServers(more)] : sentences;
  const count = messages.shareOfServers(counted.length, asked.length);
  return messages.recordNotSeen(pathForPeople(wanted.place), count, wanted.whose, all);
}

/**
 * Returns a delegation for a message: the name and the target of its own CNAME. Further links are
 * only counted. A requester may point a CNAME at a name of the cluster's own DNS, and must not read
 * that DNS here.
 */
export function pathForPeople({
  path,
  ofWildcard,
}: Pick<Delegation, 'path' | 'ofWildcard'>): string {
  const [name = '', target, ...more] = path.map(nameForPeople);
  const [, shadowed] = ofWildcard ?? [];
  if (shadowed !== undefined) return messages.besideWildcard(name, nameForPeople(shadowed));
  if (target === undefined) return name;
  const further = more.length === 0 ? '' : messages.moreLinks(more.length);
  return messages.delegated(name, target, further);
}

interface AnswerVerdict {
  readonly found: 'right' | 'wrong' | 'silent';
  /** The rest of a sentence that starts with the server. */
  readonly says: string;
}

function judge(answer: DnsAnswer | NoDnsAnswer, wanted: ExpectedRecord): AnswerVerdict {
  if (answer.kind === 'none') return { found: 'silent', says: answer.problem };
  const { rcode, answers, authoritative } = answer;
  if (rcode === 'NXDOMAIN') return { found: 'wrong', says: messages.NO_SUCH_NAME };
  if (rcode !== 'NOERROR') return { found: 'silent', says: messages.answeredRcode(rcode) };
  if (wanted.authoritative && !authoritative)
    return { found: 'silent', says: messages.NOT_AUTHORITATIVE };
  const end = endOf(wanted.place.path);
  const path = extendPath([end], answers) ?? ([end] as const);
  const values = answers
    .filter(({ name, type }) => type === 'TXT' && name === endOf(path))
    .map(({ value }) => value);
  if (wanted.isThere(values)) return { found: 'right', says: '' };
  const isUnfollowed = path.length > 1 && isUnfollowing(answer, wanted);
  return { found: 'wrong', says: otherValues(values, isUnfollowed) };
}

/** Reports whether a named server knows only zones of its own, and so ends at a CNAME. */
function isUnfollowing(
  { recursionAvailable }: DnsAnswer,
  { authoritative }: Pick<ExpectedRecord, 'authoritative'>,
): boolean {
  return !authoritative && recursionAvailable === false;
}

/**
 * Counts values without repeating them: a CNAME may lead to a record that the requester may not
 * read.
 */
function otherValues(values: readonly string[], isUnfollowed: boolean): string {
  if (values.length === 0) return isUnfollowed ? messages.NOT_RECURSIVE : messages.NO_TXT_RECORD;
  return messages.otherValues(values.length);
}
