// SPDX-License-Identifier: Apache-2.0
import type { Answer, Problem } from '../protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { ChallengeObjectStatus } from '#api/acme/challenge.ts';
import type { ChallengeMemory } from './memory.ts';
import { pollBackOff, requestedWait, SELF_CHECK_MS } from './poll-intervals.ts';
import {
  changed,
  isFinalChallenge,
  NOT_WAITING,
  timeText,
  WAITING_FOR_TURN,
  type ChallengeState,
} from './status.ts';
import { isGone, judge, waitAfter, type AccountNews } from './verdict.ts';
import * as messages from './messages.ts';

/** A Challenge after an answer. */
export interface ChallengeAfter extends AccountNews {
  readonly status: ChallengeObjectStatus;
  readonly memory: ChallengeMemory;
}

/** A Challenge before an answer, and the time of the answer. */
export interface ChallengeBefore {
  readonly status: ChallengeObjectStatus;
  readonly memory: ChallengeMemory;
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** State of the Challenge's authorization at the server. */
export interface ReadAuthorization {
  readonly authorization: ChallengeState;
  /** State of the challenge of the solver's type. */
  readonly challenge: string;
  /** End of the authorization in milliseconds since 1970. */
  readonly expires?: number | undefined;
  /** Reason that the server found it invalid, quoted. */
  readonly error?: string | undefined;
}

/** Status of a Challenge before its first step. */
export const NEW_CHALLENGE: ChallengeObjectStatus = { processing: false, presented: false };

/** Returns the status after the Challenge got a slot. */
export function afterScheduling(status: ChallengeObjectStatus): ChallengeObjectStatus {
  return changed(status, { ...NOT_WAITING, processing: true });
}

/**
 * Returns the Challenge after its turn ended while another waits. The clean-up runs next, and then
 * the Challenge waits for its next turn. The message keeps the earlier reason.
 */
export function afterYielding({ status, memory, now }: ChallengeBefore): ChallengeAfter {
  const hindered = status.reason === undefined ? '' : messages.earlierReason(hindranceOf(status));
  const message = messages.turnEnded(hindered);
  const waits = { reason: WAITING_FOR_TURN, message, nextAttemptAt: undefined };
  return {
    // The next turn starts with a new reading.
    status: changed(status, { ...waits, processing: false, state: undefined }),
    memory: { ...memory, passed: false, accepted: false, read: undefined, yieldedAt: now },
  };
}

function hindranceOf({ reason = '', message = '' }: ChallengeObjectStatus): string {
  return messages.withReason(reason, message);
}

/** Returns the Challenge after its clean-up ended or was abandoned. Others are next. */
export function afterRelease({
  status,
  memory,
}: Pick<ChallengeBefore, 'status' | 'memory'>): ChallengeAfter {
  return { status, memory: { ...memory, yieldedAt: undefined } };
}

/** Returns the status of a Challenge that waits longer than a moment for its first turn. */
export function afterQueueing(status: ChallengeObjectStatus): ChallengeObjectStatus {
  const message = messages.QUEUED;
  return status.reason === undefined ? { ...status, reason: WAITING_FOR_TURN, message } : status;
}

/** Returns the Challenge after its authorization expired (RFC 8555 §7.1.4). */
export function afterExpiry({ status, memory, now }: ChallengeBefore): ChallengeAfter {
  const hindered = status.reason === undefined ? '' : messages.causedBy(hindranceOf(status));
  const message = messages.authorizationExpired(timeText(memory.expiresAt ?? now), hindered);
  const end = { state: 'expired', reason: 'AuthorizationExpired', message } as const;
  return { status: endedStatus(status, end, now), memory };
}

/** Returns the status of a Challenge that ended. */
function endedStatus(
  status: ChallengeObjectStatus,
  end: Pick<ChallengeObjectStatus, 'state' | 'reason' | 'message'>,
  now: number,
): ChallengeObjectStatus {
  return changed(status, {
    ...NOT_WAITING,
    ...end,
    processing: false,
    finalAt: timeText(now),
  });
}

/** Returns the Challenge after a reading of its authorization. */
export function afterReading(
  before: ChallengeBefore,
  answer: Answer<ReadAuthorization>,
): ChallengeAfter {
  if (answer.kind !== 'ok') return afterCallError(before, 'read', answer);
  const { status, memory, now } = before;
  const { authorization, challenge, error, expires } = answer.value;
  if (isFinalChallenge(authorization)) {
    const failed = authorization === 'valid' ? {} : failure(authorization, error);
    return { status: endedStatus(status, { ...failed, state: authorization }, now), memory };
  }
  if (!isValidating(memory, challenge)) {
    const passed = mayHavePassed(memory, challenge) ? PASSED : {};
    const pending = { polls: 0, accepted: false, read: { authorization, challenge } } as const;
    return {
      status: changed(status, { ...noWaitOf(memory, challenge), state: 'pending' }),
      memory: { ...memory, ...passed, ...pending, expiresAt: expires },
    };
  }
  const polls = memory.polls + 1;
  const nextAttemptAt = timeText(now + (requestedWait(answer.retryAfterMs) ?? pollBackOff(polls)));
  return {
    status: changed(status, { ...NOT_WAITING, state: 'pending', nextAttemptAt }),
    memory: {
      ...memory,
      ...PASSED,
      polls,
      expiresAt: expires,
      read: { authorization, challenge: 'processing' },
    },
  };
}

/** Changes of the memory after the call that failed has passed. */
const PASSED = { notFound: 0, limits: 0, acceptFails: false } as const;

/**
 * Polls of a challenge that is accepted and stays `pending`, before it is accepted again: about
 * eight minutes.
 */
const MAX_PENDING_POLLS = 50;

/**
 * Reports whether the server validates. Some leave the challenge `pending` while they do, and each
 * acceptance could start another validation.
 */
function isValidating({ accepted = false, polls }: ChallengeMemory, challenge: string): boolean {
  return challenge === 'processing' || (accepted && polls < MAX_PENDING_POLLS);
}

/** Reports whether no acceptance fails any more, as far as a reading shows. */
function mayHavePassed({ acceptFails = false }: ChallengeMemory, challenge = 'pending'): boolean {
  return !acceptFails || challenge !== 'pending';
}

/** Returns the changes that end a wait. The failures of an acceptance end when it passes. */
function noWaitOf(
  memory: ChallengeMemory,
  challenge?: string,
): typeof NOT_WAITING | Pick<typeof NOT_WAITING, 'nextAttemptAt'> {
  return mayHavePassed(memory, challenge) ? NOT_WAITING : { nextAttemptAt: undefined };
}

function failure(
  state: ChallengeState,
  error: string | undefined,
): Pick<ChallengeObjectStatus, 'reason' | 'message'> {
  const message = messages.authorizationFailed(state, error);
  return { reason: `Authorization${state.charAt(0).toUpperCase()}${state.slice(1)}`, message };
}

/** Returns the Challenge after its solver presented it. */
export function afterPresenting({ status, memory, now }: ChallengeBefore): ChallengeAfter {
  const presented = { presented: true, presentedAt: timeText(now) };
  return {
    status: changed(status, { ...noWaitOf(memory), ...presented }),
    memory: { ...memory, passed: false },
  };
}

/** Returns the Challenge after a self-check. A failed check repeats every ten seconds. */
export function afterSelfCheck(
  before: ChallengeBefore,
  problem: string | undefined,
): ChallengeAfter {
  const { status, memory, now } = before;
  if (problem === undefined)
    return { status: changed(status, noWaitOf(memory)), memory: { ...memory, passed: true } };
  const nextAttemptAt = timeText(now + SELF_CHECK_MS);
  const waits = { reason: 'NotPropagated', message: problem, nextAttemptAt };
  return { status: changed(status, waits), memory };
}

/**
 * Returns the Challenge after its acceptance was sent. The next step reads its state, whatever the
 * answer.
 */
export function afterAccepting(before: ChallengeBefore, answer: Answer<unknown>): ChallengeAfter {
  if (answer.kind !== 'ok') return afterCallError(before, 'challenge', answer);
  const { status, memory, now } = before;
  const read = { authorization: 'pending', challenge: 'processing' } as const;
  const nextAttemptAt = timeText(now + (requestedWait(answer.retryAfterMs) ?? pollBackOff(1)));
  return {
    status: changed(status, { ...NOT_WAITING, nextAttemptAt }),
    memory: { ...memory, ...PASSED, accepted: true, polls: 1, read },
  };
}

/** Returns the Challenge after its clean-up. Keeps the reason of the end. */
export function afterCleanUp({
  status,
  memory,
}: Pick<ChallengeBefore, 'status' | 'memory'>): ChallengeAfter {
  const { reason, message } = status;
  return {
    status: changed(status, { ...NOT_WAITING, reason, message, presented: false }),
    memory: { ...memory, passed: false },
  };
}

function afterCallError(
  before: ChallengeBefore,
  attempted: 'read' | 'challenge',
  error: Problem | NoAnswer,
): ChallengeAfter {
  const { status, memory, uid, now } = before;
  const { failures = 0 } = status;
  const { limits } = memory;
  const notFound = isGone(error) ? memory.notFound + 1 : 0;
  const verdict = judge(error, {
    attempted,
    notFound,
    uid,
    failures: failures + 1,
    limits: limits + 1,
    replaces: false,
    accountIsValid: true,
  });
  // The answer to an acceptance may be lost, so read the state before repeating the call.
  const acceptFails = attempted === 'challenge' || memory.acceptFails === true;
  const unread = { ...memory, notFound, acceptFails, read: undefined };
  if (verdict.verdict === 'withoutReplaces') return { status, memory: unread };
  if (!('afterMs' in verdict)) {
    const { reason, message } = verdict;
    const state = verdict.verdict === 'fail' ? 'invalid' : 'expired';
    return { status: endedStatus(status, { state, reason, message }, now), memory: unread };
  }
  const wait = waitAfter(verdict, { failures, limits }, now);
  return {
    status: changed(status, wait.changes),
    memory: { ...unread, limits: wait.limits },
    ...wait.news,
  };
}
