// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Problem, ProblemType } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { afterRevocation, heldRevocation, nextRevocationStep } from '#acme/orders/index.ts';
import type { OrderRevocation, RevocationStep } from '#acme/orders/revocation.ts';
import { timeOf, toWrite } from '#acme/orders/status.ts';
import { REVOCATION_CODES } from '#api/acme/names.ts';
import { ORDER_STATUS } from '#api/acme/order.ts';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const HOUR = 3_600_000;
const notAfter = NOW + 24 * HOUR;
const asked = 'keyCompromise';

function step(requested?: string, status?: OrderRevocation, now = NOW): RevocationStep {
  return nextRevocationStep({ status, requested, notAfter }, now);
}

function after(answer: Answer<null>, status?: OrderRevocation): OrderRevocation {
  return afterRevocation({ status, asked, uid: 'u', now: NOW }, answer);
}

function problem(type: ProblemType, status = 400, more: Partial<Problem> = {}): Problem {
  return { kind: 'problem', status, type, detail: '"no"', subproblems: [], ...more };
}

const LOST: NoAnswer = {
  kind: 'transport',
  cause: 'cut-off',
  detail: 'cut off',
  mayHaveArrived: true,
};

test('each allowed reason is sent to the CA; without a reason nothing is revoked', () => {
  for (const reason of Object.keys(REVOCATION_CODES))
    assert.deepEqual(step(reason), { step: 'revoke', asked: reason });
  // RFC 5280 §5.3.1.
  assert.deepEqual(Object.values(REVOCATION_CODES), [0, 1, 3, 4, 5]);
  // The policy that guards the annotation takes an empty one for none.
  for (const requested of [undefined, ''])
    assert.deepEqual(step(requested), { step: 'note', status: undefined });
});

test('what is no reason is refused in words that show it harmlessly, and never asked', () => {
  for (const requested of [
    'cACompromise',
    'constructor',
    '1',
    'key\u202eCompromise',
    'x'.repeat(10_000),
  ]) {
    const found = step(requested);
    assert.ok(found.step === 'note' && found.status?.state === 'refused');
    assert.equal(found.status.reason, 'ReasonUnknown');
    assert.doesNotMatch(found.status.message ?? '', /\u202e|x{200}/);
    assert.equal(found.status.asked, undefined);
    // Until it is corrected.
    assert.deepEqual(step(asked, found.status), { step: 'revoke', asked });
  }
});

test('a certificate that the CA has revoked, now or before, is revoked for good', () => {
  for (const answer of [{ kind: 'ok', value: null } as const, problem('alreadyRevoked')]) {
    const status = after(answer);
    assert.deepEqual(
      [status.state, timeOf(status.finalAt), status.reason],
      ['revoked', NOW, undefined],
    );
    for (const requested of [asked, 'superseded', 'nonsense', '', undefined])
      assert.deepEqual(step(requested, status), { step: 'note', status });
  }
});

test('a lost answer is asked for again, later each time', () => {
  let status: OrderRevocation | undefined;
  let wait = 0;
  for (let failures = 1; failures < 6; failures += 1) {
    status = after(LOST, status);
    assert.deepEqual(
      [status.state, status.reason, status.failures],
      ['pending', 'NoAnswer', failures],
    );
    const until = timeOf(status.nextAttemptAt) ?? 0;
    assert.ok(until - NOW > wait);
    wait = until - NOW;
    assert.deepEqual(step(asked, status), { step: 'wait', until });
    assert.deepEqual(step(asked, status, until), { step: 'revoke', asked });
  }
  assert.equal(after(problem('alreadyRevoked'), status).state, 'revoked');
});

test('no refusal of one moment is the last word', () => {
  for (const each of [
    problem('unauthorized', 403),
    problem('malformed', 404),
    problem('serverInternal', 500),
    problem('badNonce'),
    problem('accountDoesNotExist'),
    problem('none', 503),
  ]) {
    const status = after(each);
    assert.equal(status.state, 'pending', each.type);
    assert.ok((timeOf(status.nextAttemptAt) ?? 0) > NOW, each.type);
  }
  const limited = after(problem('rateLimited', 429, { retryAfterMs: 90_000 }));
  assert.deepEqual([limited.reason, timeOf(limited.nextAttemptAt)], ['RateLimited', NOW + 90_000]);
});

test('a reason that the CA does not take is refused; another one is tried', () => {
  const status = after(problem('badRevocationReason'));
  assert.deepEqual([status.state, status.reason], ['refused', 'BadRevocationReason']);
  assert.deepEqual(step(asked, status, NOW + HOUR), { step: 'note', status });
  assert.deepEqual(step('superseded', status), { step: 'revoke', asked: 'superseded' });
});

test('a new reason does not wait for the previous one; a withdrawn wish is forgotten', () => {
  const status = after(LOST);
  assert.deepEqual(step('superseded', status), { step: 'revoke', asked: 'superseded' });
  assert.deepEqual(step('', status), { step: 'note', status: undefined });
});

test('an expired certificate is not revoked', () => {
  const found = step(asked, after(LOST), notAfter);
  assert.ok(found.step === 'note' && found.status?.state === 'refused');
  assert.equal(found.status.reason, 'Expired');
});

test('a signer that cannot be called now is waited for, and why is told', () => {
  const held = heldRevocation(
    { status: after(LOST), asked },
    { reason: 'SignerNotReady', message: 'not ready' },
  );
  assert.deepEqual([held.state, held.reason, held.failures], ['pending', 'SignerNotReady', 1]);
  assert.deepEqual(step(asked, held), { step: 'revoke', asked });
});

test('the written status is valid, has all members, and is read back as the same', () => {
  for (const status of [after(LOST), after({ kind: 'ok', value: null })]) {
    const revocation = toWrite(status);
    assert.deepEqual(Object.keys(revocation), Object.keys(status));
    assert.deepEqual(ORDER_STATUS.parse({ revocation }), { revocation });
    const read = JSON.parse(JSON.stringify(revocation)) as OrderRevocation;
    assert.deepEqual(toWrite(read), revocation);
  }
});
