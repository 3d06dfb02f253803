// SPDX-License-Identifier: Apache-2.0
/** A limit that says how long it lasts is no failure: it lengthens the wait of no other error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '#acme/protocol/answer.ts';
import { failuresAfter } from '#acme/acme-solver/decide.ts';
import {
  afterAccepting,
  afterReading,
  afterSelfCheck,
  NEW_CHALLENGE,
  type ChallengeAfter,
  type ChallengeBefore,
} from '#acme/orders/challenge-events.ts';
import { NO_CHALLENGE_MEMORY, NO_ORDER_MEMORY } from '#acme/orders/memory.ts';
import {
  afterNoSolver,
  afterOrder,
  showWaitFor,
  type OrderBefore,
} from '#acme/orders/order-events.ts';
import { nextOrderStep, type ChildChallenge } from '#acme/orders/order-step.ts';
import { failuresAfterRenewalInfo } from '#acme/orders/renewal.ts';
import { afterRevocation, type OrderRevocation } from '#acme/orders/revocation.ts';
import { timeOf, timeText, toWrite, WAITING_FOR_CHALLENGE } from '#acme/orders/status.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import { LOST, problem } from './simulated-ca.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const LIMIT = problem(429, 'rateLimited', 2 * SECOND);
/** The first wait after a failed call, and its spread. */
const FIRST = 2.2 * SECOND;
const TIMES = 12;

type Kept = Pick<OrderBefore, 'status' | 'memory'>;

/** Twelve answers of one kind, and then one of another: how long the last one waits. */
function orderWait(first: Answer<never>, then: Answer<never>): number | undefined {
  let kept: Kept = { status: {}, memory: NO_ORDER_MEMORY };
  for (const answer of [...Array<Answer<never>>(TIMES).fill(first), then])
    kept = afterOrder({ ...kept, uid: 'u', replaces: false, now: 0 }, 'newOrder', answer);
  return timeOf(kept.status.nextAttemptAt);
}

function challengeWait(
  first: Answer<never>,
  then: Answer<never>,
  call: (before: ChallengeBefore, answer: Answer<never>) => ChallengeAfter,
): number | undefined {
  let kept: ChallengeAfter = { status: NEW_CHALLENGE, memory: NO_CHALLENGE_MEMORY };
  for (const answer of [...Array<Answer<never>>(TIMES).fill(first), then])
    kept = call({ ...kept, uid: 'u', now: 0 }, answer);
  return timeOf(kept.status.nextAttemptAt);
}

const LIMITS: readonly [what: string, limit: Answer<never>][] = [
  ['429', LIMIT],
  ['503 with Retry-After', problem(503, 'none', 2 * SECOND)],
  ['a refusal of the signer', problem(403, 'userActionRequired', 2 * SECOND)],
];

for (const [what, limit] of LIMITS) {
  test(`${what}, with Retry-After, does not lengthen the wait of another error`, () => {
    const waits = [
      orderWait(limit, LOST),
      challengeWait(limit, LOST, afterAccepting),
      challengeWait(limit, LOST, afterReading),
    ];
    for (const wait of waits) assert.ok((wait ?? Infinity) <= FIRST, `${wait}`);
  });
}

test('waits for limits without Retry-After grow and lengthen no other error’s wait', () => {
  const limit = problem(429, 'rateLimited');
  assert.ok((orderWait(limit, limit) ?? 0) >= 60 * MINUTE);
  assert.ok((orderWait(limit, LOST) ?? Infinity) <= FIRST);
  assert.ok((challengeWait(limit, limit, afterAccepting) ?? 0) >= 60 * MINUTE);
  assert.ok((challengeWait(limit, LOST, afterReading) ?? Infinity) <= FIRST);
  // And errors do not lengthen the first wait of a limit.
  assert.ok((orderWait(LOST, limit) ?? Infinity) <= 1.1 * MINUTE);
  assert.ok((orderWait(LOST, LOST) ?? 0) >= 10 * MINUTE);
});

test('constant waits do not count: self-checks, and an Order without a solver', () => {
  let challenge: ChallengeAfter = { status: NEW_CHALLENGE, memory: NO_CHALLENGE_MEMORY };
  let order: Kept = { status: {}, memory: NO_ORDER_MEMORY };
  for (let time = 0; time < TIMES; time += 1) {
    challenge = afterSelfCheck({ ...challenge, uid: 'u', now: 0 }, 'no record yet');
    order = afterNoSolver({ ...order, uid: 'u', replaces: false, now: 0 }, 'none fits');
  }
  // A new process reads the server first.
  const read = afterReading({ ...challenge, uid: 'u', now: 0 }, LOST);
  assert.ok((timeOf(read.status.nextAttemptAt) ?? Infinity) <= FIRST);
  const made = afterOrder({ ...order, uid: 'u', replaces: false, now: 0 }, 'newOrder', LOST);
  assert.ok((timeOf(made.status.nextAttemptAt) ?? Infinity) <= FIRST);
});

test('rate limits of a revocation, renewal or solver lengthen no other error’s wait', () => {
  let status: OrderRevocation | undefined;
  const about = { asked: 'superseded', uid: 'u', now: 0 } as const;
  for (const answer of [...Array<Answer<never>>(TIMES).fill(LIMIT), LOST])
    status = afterRevocation({ ...about, status }, answer);
  assert.ok((timeOf(status?.nextAttemptAt) ?? Infinity) <= FIRST);

  let failures = 0;
  for (let time = 0; time < TIMES; time += 1) failures = failuresAfterRenewalInfo(LIMIT, failures);
  assert.equal(failuresAfterRenewalInfo(LOST, failures), 2);
  const limited = { kind: 'problem', reason: 'r', message: 'm', retryAfterMs: SECOND } as const;
  let calls = 0;
  for (let time = 0; time < TIMES; time += 1) calls = failuresAfter(calls, limited);
  assert.equal(calls, 1);
});

test('an Order reports its Challenge’s reason to wait and is not delayed by it', () => {
  const authorization = { url: 'z', name: 'a.example', wildcard: false, wasValid: false };
  const status: OrderObjectStatus = {
    url: 'o',
    authorizations: [{ ...authorization, offered: [] }],
  };
  const server = { status: 'pending', authorizations: ['z'], finalize: 'f' } as const;
  const child: ChildChallenge = {
    metadata: { name: 'web-1-abc' },
    spec: { authorizationURL: 'z', dnsName: 'a.example' },
    status: {
      state: 'pending',
      reason: 'NotPropagated',
      message: 'ns2 has no record',
      nextAttemptAt: timeText(MINUTE),
    },
  };
  const memory = { ...NO_ORDER_MEMORY, server };
  const step = (challenge: ChildChallenge, of = status) =>
    nextOrderStep(
      { status: of, memory, challenges: [challenge], replaces: false, abandoned: false },
      0,
    );
  assert.deepEqual(step(child), { step: 'wait', for: child });
  // What goes as it should is no reason.
  assert.deepEqual(step({ ...child, status: { state: 'pending' } }), { step: 'wait' });
  const shown = toWrite(showWaitFor(status, child));
  assert.equal(shown.reason, WAITING_FOR_CHALLENGE);
  assert.match(shown.message ?? '', /web-1-abc for a\.example: NotPropagated: ns2 has no record/);
  assert.equal(shown.nextAttemptAt, '1970-01-01T00:01:00Z');
  // A process that begins waits for the Challenge, not for that time.
  assert.deepEqual(step(child, shown), { step: 'wait', for: child });
  assert.deepEqual(step({ ...child, status: { state: 'valid' } }, shown), { step: 'readOrder' });
  const { reason, message, nextAttemptAt } = showWaitFor(shown, undefined);
  assert.deepEqual([reason, message, nextAttemptAt], [undefined, undefined, undefined]);
});
