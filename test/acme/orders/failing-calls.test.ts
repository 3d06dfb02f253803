// SPDX-License-Identifier: Apache-2.0
/**
 * Every call of an Order and its Challenge against every failure that lasts: the failing call backs
 * off, whatever passes between its attempts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { judge, type AcmeCallKind } from '#acme/orders/verdict.ts';
import { problem, SimulatedCa } from './simulated-ca.ts';
import { SimulatedLife } from './simulated-life.ts';

const MINUTE = 60_000;
const STEPS = 1000;
/** Attempts at 2, 4, 8 … 512 seconds, before the wait has grown to its ten minutes. */
const GROWING = 10;
const LONGEST_WAIT = 10 * MINUTE;

const transport = (cause: NoAnswer['cause'], detail: string): NoAnswer => ({
  kind: 'transport',
  cause,
  detail,
  mayHaveArrived: true,
});

const FAILURES: readonly [what: string, failure: Problem | NoAnswer][] = [
  ['404', problem(404, 'none')],
  ['404 malformed', problem(404, 'malformed')],
  ['400', problem(400, 'none')],
  ['400 malformed', problem(400, 'malformed')],
  ['400 with Retry-After', problem(400, 'none', 1000)],
  ['401 unauthorized', problem(401, 'unauthorized')],
  ['403', problem(403, 'none')],
  ['403 unauthorized', problem(403, 'unauthorized')],
  ['400 accountDoesNotExist', problem(400, 'accountDoesNotExist')],
  ['403 orderNotReady', problem(403, 'orderNotReady')],
  ['429', problem(429, 'rateLimited')],
  ['429 with Retry-After', problem(429, 'rateLimited', 1000)],
  ['503 with Retry-After', problem(503, 'none', 1000)],
  ['500', problem(500, 'serverInternal')],
  ['503', problem(503, 'none')],
  ['malformed JSON', transport('unusable', 'the answer: does not match RFC 8555')],
  ['a reset connection', transport('cut-off', 'the connection was reset')],
  ['a timeout', transport('timeout', 'no answer within 30 seconds')],
];

/** Calls, and how many of that kind pass before those that fail. */
const CALLS: readonly [what: string, call: string, passing: number][] = [
  ['newOrder', 'newOrder', 0],
  ['the reading of the order', 'readOrder', 0],
  ['the Order’s reading of the authorization', 'readAuthorization', 0],
  ['the Challenge’s reading of the authorization', 'readAuthorization', 1],
  ['the reading after the acceptance', 'readAuthorization', 2],
  ['the acceptance', 'accept', 0],
  ['finalize', 'finalize', 0],
  ['the download', 'download', 0],
];

/** Steps an Order with one name whose call fails for good. */
function failFor(call: string, passing: number, failure: Problem | NoAnswer) {
  let left = passing;
  let attempts = 0;
  const ca = new SimulatedCa((called) => {
    if (called !== call || left-- > 0) return undefined;
    attempts += 1;
    return failure;
  });
  const life = new SimulatedLife(ca, ['a.example']);
  const begunAt = life.now;
  let isEnded = true;
  try {
    life.run(STEPS);
  } catch {
    isEnded = false;
  }
  return { life, attempts, isEnded, elapsed: life.now - begunAt };
}

for (const [what, call, passing] of CALLS) {
  test(`${what} that fails backs off, whatever passes between`, () => {
    for (const [how, failure] of FAILURES) {
      const { life, attempts, elapsed } = failFor(call, passing, failure);
      const text = `${how}: ${attempts} attempts, ${life.writes} writes in ${elapsed / MINUTE} min`;
      const most = GROWING + elapsed / LONGEST_WAIT;
      assert.ok(attempts <= most, text);
      // Between two attempts the order is read, and the account where it may be the cause.
      assert.ok(life.ca.calls <= 4 * attempts + 10, `${text}, ${life.ca.calls} calls`);
      assert.ok(life.writes <= 2 * attempts + 10, text);
    }
  });

  // The answer to newOrder names no resource that could be gone.
  if (call === 'newOrder') continue;
  test(`${what}: a fourth 404 ends the Order`, () => {
    const { life, attempts, isEnded } = failFor(call, passing, problem(404, 'malformed'));
    assert.deepEqual([isEnded, attempts, life.status.reason], [true, 4, 'OrderGone']);
  });
}

for (const type of ['unauthorized', 'accountDoesNotExist'] as const) {
  test(`${type} for another account’s order ends the Order, not the signer`, () => {
    const { life, attempts, isEnded } = failFor('readOrder', 0, problem(401, type));
    // The account is read after the first, and is valid.
    assert.deepEqual([isEnded, attempts, life.status.reason], [true, 5, 'OrderGone']);
    assert.ok(life.steps.includes('readAccount'));
  });
}

test('accountDoesNotExist stops the signer only where the account itself is called', () => {
  const about = { failures: 1, limits: 1, notFound: 0, uid: 'u', replaces: false } as const;
  const verdict = (attempted: AcmeCallKind, accountIsValid: boolean) =>
    judge(problem(400, 'accountDoesNotExist'), { ...about, attempted, accountIsValid }).verdict;
  for (const attempted of ['newOrder', 'readAccount'] as const)
    assert.equal(verdict(attempted, false), 'signer');
  for (const attempted of ['read', 'challenge', 'finalize', 'download'] as const)
    assert.deepEqual([verdict(attempted, false), verdict(attempted, true)], ['account', 'again']);
});

test('an Order whose call passes after many failures begins again at two seconds', () => {
  let refusals = 6;
  const life = new SimulatedLife(
    new SimulatedCa((call) =>
      (call === 'finalize' || call === 'download') && refusals-- > 0
        ? problem(500, 'serverInternal')
        : undefined,
    ),
    ['a.example'],
  );
  life.run();
  assert.equal(life.status.state, 'valid');
  assert.equal(life.status.failures, undefined);
});

test('an account that is read as valid is judged with the next refusal of the call', () => {
  const { life, isEnded } = failFor('finalize', 0, problem(403, 'unauthorized'));
  assert.deepEqual([isEnded, life.status.state], [true, 'failed']);
  const after = life.steps.slice(life.steps.indexOf('finalize'));
  assert.deepEqual(after.slice(0, 4), ['finalize', 'readAccount', 'readOrder', 'finalize']);
});

test('a new process continues the back-off of the call that fails', () => {
  const life = new SimulatedLife(
    new SimulatedCa((call) => (call === 'finalize' ? problem(500, 'serverInternal') : undefined)),
    ['a.example'],
  );
  assert.throws(() => life.run(60), /no end/);
  const { failures = 0 } = life.status;
  assert.ok(failures > 5);
  life.killAt = life.boundaries.length + 1;
  assert.throws(() => life.run(4), /no end/);
  assert.equal(life.status.failures, failures + 1);
});

test('a server that leaves an accepted challenge pending is accepted once, and polled', () => {
  const ca = new SimulatedCa();
  const real = ca.readAuthorization.bind(ca);
  let polls = 0;
  ca.readAuthorization = (url) => {
    const authorization = ca.authorizations.get(url);
    // Boulder has no challenge that is `processing`.
    if (authorization?.challenge === 'processing' && (polls += 1) < 20)
      return { kind: 'ok', value: { authorization: 'pending', challenge: 'pending' } };
    return real(url);
  };
  const life = new SimulatedLife(ca, ['a.example']);
  life.run();
  assert.equal(life.status.state, 'valid');
  assert.equal(life.steps.filter((step) => step === 'accept').length, 1);
});

for (const [what, state] of [
  ['ready after finalize', { status: 'ready' }],
  ['valid without a certificate', { status: 'valid', certificate: undefined }],
] as const) {
  test(`an order that stays ${what} is polled, not called at full speed`, () => {
    const ca = new SimulatedCa();
    const finalize = ca.finalize.bind(ca);
    const readOrder = ca.readOrder.bind(ca);
    let isFinalized = false;
    const stuck = (answer: ReturnType<typeof readOrder>): ReturnType<typeof readOrder> =>
      isFinalized && answer.kind === 'ok'
        ? { ...answer, value: { ...answer.value, ...state } }
        : answer;
    ca.finalize = (url) => {
      isFinalized = true;
      const answer = finalize(url);
      return stuck(answer.kind === 'ok' ? answer : readOrder(url));
    };
    ca.readOrder = (url) => stuck(readOrder(url));
    const life = new SimulatedLife(ca, ['a.example']);
    const begunAt = life.now;
    assert.throws(() => life.run(STEPS), /no end/);
    const elapsed = life.now - begunAt;
    assert.ok(ca.calls <= 20 + (2 * elapsed) / 10_000, `${ca.calls} calls in ${elapsed} ms`);
  });
}
