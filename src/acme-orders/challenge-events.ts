// SPDX-License-Identifier: Apache-2.0
import type { Answer, NoAnswer, Problem } from '../acme/answer.ts';
import { pollBackOff } from './back-off.ts';
import { isGone, judge } from './verdict.ts';
import {
  isFinalChallenge,
  type ChallengeMemory,
  type ChallengeRecord,
  type ChallengeState,
} from './record.ts';

/** A Challenge after an answer. */
export interface ChallengeAfter {
  readonly record: ChallengeRecord;
  readonly memory: ChallengeMemory;
  /** Until when every call of the account waits, if the server limits it. */
  readonly accountUntil?: number;
  readonly signerProblem?: string;
}

/** A Challenge before an answer, and when that came. */
export interface ChallengeBefore {
  readonly record: ChallengeRecord;
  readonly memory: ChallengeMemory;
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The authorization that a Challenge is for, as the server says. */
export interface ReadAuthorization {
  readonly authorization: ChallengeState;
  /** State of the challenge of the type that is solved. */
  readonly challenge: string;
  /** Why the server found it invalid: quoted. */
  readonly error?: string | undefined;
}

/** The source's interval: fixed, without a back-off and without an end. */
const SELF_CHECK_MS = 10_000;

export const NEW_CHALLENGE: ChallengeRecord = { processing: false, presented: false, failures: 0 };
export const NO_CHALLENGE_MEMORY: ChallengeMemory = {
  passed: false,
  notFound: 0,
  polls: 0,
};

const CALM = {
  failures: 0,
  reason: undefined,
  message: undefined,
  nextAttemptAt: undefined,
} as const;

/** It got a slot. */
export function afterScheduling(record: ChallengeRecord): ChallengeRecord {
  return { ...record, ...CALM, processing: true };
}

/** After the authorization was read, at first or after its acceptance. */
export function afterReading(
  before: ChallengeBefore,
  answer: Answer<ReadAuthorization>,
): ChallengeAfter {
  if (answer.kind !== 'ok') return afterCallError(before, 'read', answer);
  const { record, memory, now } = before;
  const { authorization, challenge, error } = answer.value;
  if (isFinalChallenge(authorization)) {
    const failed = authorization === 'valid' ? {} : failure(authorization, error);
    const ended = { ...CALM, ...failed, state: authorization, processing: false, finalAt: now };
    return { record: { ...record, ...ended }, memory };
  }
  const isValidating = challenge === 'processing';
  const polls = isValidating ? memory.polls + 1 : 0;
  const nextAttemptAt = isValidating
    ? now + (answer.retryAfterMs ?? pollBackOff(polls))
    : undefined;
  return {
    record: { ...record, ...CALM, state: 'pending', nextAttemptAt },
    memory: { ...memory, notFound: 0, polls, read: { authorization, challenge } },
  };
}

function failure(
  state: ChallengeState,
  error: string | undefined,
): Pick<ChallengeRecord, 'reason' | 'message'> {
  const message = `the ACME server found the authorization ${state}${error === undefined ? '' : `: ${error}`}`;
  return { reason: `Authorization${state.charAt(0).toUpperCase()}${state.slice(1)}`, message };
}

/** After a solver presented it. One that cannot says so itself, and tries again by itself. */
export function afterPresenting({ record, memory, now }: ChallengeBefore): ChallengeAfter {
  const presented = { ...record, ...CALM, presented: true, presentedAt: now };
  return { record: presented, memory: { ...memory, passed: false } };
}

/** After the self-check. What it found is asked again every ten seconds. */
export function afterSelfCheck(
  before: ChallengeBefore,
  problem: string | undefined,
): ChallengeAfter {
  const { record, memory, now } = before;
  if (problem === undefined)
    return { record: { ...record, ...CALM }, memory: { ...memory, passed: true } };
  const waits = { reason: 'NotPropagated', message: problem, nextAttemptAt: now + SELF_CHECK_MS };
  return { record: { ...record, ...waits, failures: record.failures + 1 }, memory };
}

/** After the server was told that it may validate: its state is read next, whatever the answer. */
export function afterAccepting(before: ChallengeBefore, answer: Answer<unknown>): ChallengeAfter {
  if (answer.kind !== 'ok') return afterCallError(before, 'challenge', answer);
  const { record, memory, now } = before;
  const read = { authorization: 'pending', challenge: 'processing' } as const;
  const nextAttemptAt = now + (answer.retryAfterMs ?? pollBackOff(1));
  return { record: { ...record, ...CALM, nextAttemptAt }, memory: { ...memory, polls: 1, read } };
}

/** After the clean-up: nothing is presented any more. The reason of the end stays. */
export function afterCleanUp({
  record,
  memory,
}: Pick<ChallengeBefore, 'record' | 'memory'>): ChallengeAfter {
  const { reason, message } = record;
  return {
    record: { ...record, ...CALM, reason, message, presented: false },
    memory: { ...memory, passed: false },
  };
}

function afterCallError(
  before: ChallengeBefore,
  attempted: 'read' | 'challenge',
  error: Problem | NoAnswer,
): ChallengeAfter {
  const { record, memory, uid, now } = before;
  const failures = record.failures + 1;
  const notFound = error.kind === 'problem' && isGone(error) ? memory.notFound + 1 : 0;
  const verdict = judge(error, {
    ...{ attempted, failures, notFound, uid, replaces: false, accountIsValid: true },
  });
  // The answer of an acceptance may be lost: the server is asked before it is repeated.
  const unread = { ...memory, notFound, read: undefined };
  if (verdict.verdict === 'withoutReplaces') return { record, memory: unread };
  const { reason, message } = verdict;
  if (!('afterMs' in verdict)) {
    const state = verdict.verdict === 'fail' ? 'invalid' : 'expired';
    const ended = { ...CALM, reason, message, processing: false, finalAt: now };
    return { record: { ...record, ...ended, state }, memory: unread };
  }
  const { afterMs, wholeAccount } = verdict;
  return {
    record: { ...record, reason, message, failures, nextAttemptAt: now + afterMs },
    memory: unread,
    ...(wholeAccount ? { accountUntil: now + afterMs } : {}),
    ...(verdict.verdict === 'signer' ? { signerProblem: message } : {}),
  };
}
