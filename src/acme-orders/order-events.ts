// SPDX-License-Identifier: Apache-2.0
import type { Answer, NoAnswer, Problem } from '../acme/answer.ts';
import { pollBackOff } from './back-off.ts';
import { quote } from '../quote.ts';
import type { ChildChallenge } from './order-step.ts';
import { isGone, judge, type Attempted } from './verdict.ts';
import {
  isFinalChallenge,
  NO_ORDER_MEMORY,
  type AuthorizationRecord,
  type ChallengeState,
  type OrderMemory,
  type OrderRecord,
  type ServerOrder,
} from './record.ts';

/** An Order after an answer. */
export interface OrderAfter {
  readonly record: OrderRecord;
  readonly memory: OrderMemory;
  /** Until when every call of the account waits, if the server limits it. */
  readonly accountUntil?: number;
  /** Why the whole signer waits, if its account or settings were refused. */
  readonly signerProblem?: string;
}

/** An Order before an answer, and when that came. */
export interface OrderBefore {
  readonly record: OrderRecord;
  readonly memory: OrderMemory;
  readonly uid: string;
  /** Whether the Order names a certificate that it replaces. */
  readonly replaces: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** An account that is not valid is read again after that. */
const ACCOUNT_MS = 5_000;
/** A change of the signer wakes its Orders earlier. */
const NO_SOLVER_MS = 60_000;
/** What the server says of an order's error is no more than its type and text. */
interface OrderBody extends ServerOrder {
  readonly url: string;
  readonly error?: { readonly type: string; readonly detail: string } | undefined;
}

export const NEW_ORDER: OrderRecord = { replacesRefused: false, authorizations: [], failures: 0 };

const CALM = {
  failures: 0,
  reason: undefined,
  message: undefined,
  nextAttemptAt: undefined,
} as const;

/** After newOrder, a reading of the order, or finalize: each answers with the order. */
export function afterOrder(
  before: OrderBefore,
  attempted: 'newOrder' | 'read' | 'finalize',
  answer: Answer<OrderBody>,
): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, attempted, answer);
  const { url, status, authorizations, finalize, certificate, error } = answer.value;
  // A server whose challenges have ended and whose order has not is asked again (cert-manager#2868).
  const isSlow =
    status === 'processing' || (status === 'pending' && isReadAgain(before, attempted));
  const polls = isSlow ? before.memory.polls + 1 : 0;
  const server = { status, authorizations, finalize, certificate };
  const memory = { ...NO_ORDER_MEMORY, polls, server };
  const record = { ...before.record, ...CALM, url, state: status, certificate };
  if (status === 'invalid') {
    const message = `the ACME server ended the order: ${[error?.type, error?.detail].join(' ').trim()}`;
    return ended({ ...before, record, memory }, 'OrderInvalid', message);
  }
  const nextAttemptAt = isSlow
    ? before.now + (answer.retryAfterMs ?? pollBackOff(polls))
    : undefined;
  return { record: { ...record, nextAttemptAt }, memory };
}

/** A new process reads `pending` once and goes on; whoever reads it again has nothing else to do. */
function isReadAgain({ memory }: OrderBefore, attempted: Attempted): boolean {
  return attempted === 'read' && memory.server?.status === 'pending';
}

/** After an authorization of the order was read. */
export function afterAuthorization(
  before: OrderBefore,
  answer: Answer<{ readonly authorization: AuthorizationRecord; readonly state: ChallengeState }>,
): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, 'read', answer);
  const { record, memory } = before;
  const { authorization, state } = answer.value;
  if (isFinalChallenge(state) && state !== 'valid')
    return ended(
      before,
      'AuthorizationNotPending',
      `the authorization of ${quote(authorization.name)} is ${state}`,
    );
  const authorizations = [...record.authorizations, authorization];
  return { record: { ...record, ...CALM, authorizations }, memory: { ...memory, notFound: 0 } };
}

/** After the download of the certificate. Whether it is what was asked for was checked before. */
export function afterDownload(before: OrderBefore, answer: Answer<string>): OrderAfter {
  if (answer.kind !== 'ok') return afterError(before, 'download', answer);
  const { record, memory, now } = before;
  return {
    record: { ...record, ...CALM, state: 'valid', chain: answer.value, finalAt: now },
    memory: { ...memory, notFound: 0 },
  };
}

/** After the account was read, because a refusal could have been its or the Order's. */
export function afterAccount(
  before: OrderBefore,
  answer: Answer<{ readonly status: string }>,
): OrderAfter {
  const { record, memory } = before;
  if (answer.kind !== 'ok') return afterError(before, 'read', answer);
  if (answer.value.status === 'valid')
    return {
      record: { ...record, nextAttemptAt: undefined },
      memory: { ...memory, accountIsValid: true },
    };
  const signerProblem = `the ACME account is ${answer.value.status}; make a new account key`;
  return { ...waiting(before, 'AccountNotValid', signerProblem, ACCOUNT_MS), signerProblem };
}

/** A certificate that is not what was asked for is not delivered, and the request gets another Order. */
export function afterWrongCertificate(before: OrderBefore, message: string): OrderAfter {
  return ended(before, 'WrongCertificate', message);
}

/** One of its Challenges ended without proof: the server's order can only become invalid, too. */
export function afterFailedChallenge(
  before: OrderBefore,
  { reason, message }: Pick<ChildChallenge, 'reason' | 'message'>,
): OrderAfter {
  return ended(before, reason ?? 'ChallengeFailed', message ?? 'a challenge was not proved');
}

/** No solver of the signer fits a name: this waits for another signer, and says so. */
export function afterNoSolver(before: OrderBefore, message: string): OrderAfter {
  return waiting(before, 'NoSolver', message, NO_SOLVER_MS);
}

function ended(before: OrderBefore, reason: string, message: string): OrderAfter {
  const { record, memory, now } = before;
  return {
    record: { ...record, ...CALM, state: 'invalid', reason, message, finalAt: now },
    memory,
  };
}

function afterError(
  before: OrderBefore,
  attempted: Attempted,
  error: Problem | NoAnswer,
): OrderAfter {
  const { record, uid, now } = before;
  const { accountIsValid } = before.memory;
  const notFound = error.kind === 'problem' && isGone(error) ? before.memory.notFound + 1 : 0;
  // Whatever was read before, the server may have done more than it said.
  const unread = { ...before, memory: { ...NO_ORDER_MEMORY, notFound, accountIsValid } };
  const verdict = judge(error, {
    ...{ attempted, notFound, uid, accountIsValid, failures: record.failures + 1 },
    replaces: before.replaces && !record.replacesRefused,
  });
  if (verdict.verdict === 'withoutReplaces')
    return { record: { ...record, ...CALM, replacesRefused: true }, memory: unread.memory };
  const { reason, message } = verdict;
  if (!('afterMs' in verdict)) {
    const after = ended(unread, reason, message);
    const state = verdict.verdict === 'fail' ? 'failed' : 'invalid';
    return { ...after, record: { ...after.record, state } };
  }
  const { afterMs, wholeAccount } = verdict;
  return {
    ...waiting(unread, reason, message, afterMs),
    ...(wholeAccount ? { accountUntil: now + afterMs } : {}),
    ...(verdict.verdict === 'signer' ? { signerProblem: message } : {}),
  };
}

function waiting(
  { record, memory, now }: OrderBefore,
  reason: string,
  message: string,
  afterMs: number,
): OrderAfter {
  const failures = record.failures + 1;
  return { record: { ...record, reason, message, failures, nextAttemptAt: now + afterMs }, memory };
}
