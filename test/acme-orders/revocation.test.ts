// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, NoAnswer, Problem, ProblemType } from '../../src/acme/answer.ts';
import {
  afterRevocation,
  heldRevocation,
  nextRevocationStep,
  revocationRecordOf,
  revocationStatusOf,
} from '../../src/acme-orders/index.ts';
import type { RevocationRecord, RevocationStep } from '../../src/acme-orders/revocation.ts';
import { ORDER_STATUS, REVOCATION_CODES } from '../../src/api/acme/index.ts';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const HOUR = 3_600_000;
const notAfter = NOW + 24 * HOUR;
const asked = 'keyCompromise';

function step(wish?: string, record?: RevocationRecord, now = NOW): RevocationStep {
  return nextRevocationStep({ record, wish, notAfter }, now);
}

function after(answer: Answer<null>, record?: RevocationRecord): RevocationRecord {
  return afterRevocation({ record, asked, uid: 'u', now: NOW }, answer);
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

test('each reason that a subscriber may give is passed on, and nothing is asked without a wish', () => {
  for (const reason of Object.keys(REVOCATION_CODES))
    assert.deepEqual(step(reason), { step: 'revoke', asked: reason });
  // RFC 5280 §5.3.1.
  assert.deepEqual(Object.values(REVOCATION_CODES), [0, 1, 3, 4, 5]);
  // The policy that guards the annotation takes an empty one for none.
  for (const wish of [undefined, ''])
    assert.deepEqual(step(wish), { step: 'note', record: undefined });
});

test('what is no reason is refused in words that show it harmlessly, and never asked', () => {
  for (const wish of [
    'cACompromise',
    'constructor',
    '1',
    'key\u202eCompromise',
    'x'.repeat(10_000),
  ]) {
    const found = step(wish);
    assert.ok(found.step === 'note' && found.record?.state === 'refused');
    assert.equal(found.record.reason, 'ReasonUnknown');
    assert.doesNotMatch(found.record.message ?? '', /\u202e|x{200}/);
    assert.equal(found.record.asked, undefined);
    // Until it is corrected.
    assert.deepEqual(step(asked, found.record), { step: 'revoke', asked });
  }
});

test('a certificate that the CA has revoked, now or before, is revoked for good', () => {
  for (const answer of [{ kind: 'ok', value: null } as const, problem('alreadyRevoked')]) {
    const record = after(answer);
    assert.deepEqual([record.state, record.finalAt, record.reason], ['revoked', NOW, undefined]);
    for (const wish of [asked, 'superseded', 'nonsense', '', undefined])
      assert.deepEqual(step(wish, record), { step: 'note', record });
  }
});

test('a lost answer is asked for again, later each time', () => {
  let record: RevocationRecord | undefined;
  let wait = 0;
  for (let failures = 1; failures < 6; failures += 1) {
    record = after(LOST, record);
    assert.deepEqual(
      [record.state, record.reason, record.failures],
      ['pending', 'NoAnswer', failures],
    );
    const until = record.nextAttemptAt ?? 0;
    assert.ok(until - NOW > wait);
    wait = until - NOW;
    assert.deepEqual(step(asked, record), { step: 'wait', until });
    assert.deepEqual(step(asked, record, until), { step: 'revoke', asked });
  }
  assert.equal(after(problem('alreadyRevoked'), record).state, 'revoked');
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
    const record = after(each);
    assert.equal(record.state, 'pending', each.type);
    assert.ok((record.nextAttemptAt ?? 0) > NOW, each.type);
  }
  const limited = after(problem('rateLimited', 429, { retryAfterMs: 90_000 }));
  assert.deepEqual([limited.reason, limited.nextAttemptAt], ['RateLimited', NOW + 90_000]);
});

test('a reason that the CA does not take is refused; another one is tried', () => {
  const record = after(problem('badRevocationReason'));
  assert.deepEqual([record.state, record.reason], ['refused', 'BadRevocationReason']);
  assert.deepEqual(step(asked, record, NOW + HOUR), { step: 'note', record });
  assert.deepEqual(step('superseded', record), { step: 'revoke', asked: 'superseded' });
});

test('another reason does not wait for the one before, and a wish that is taken back is forgotten', () => {
  const record = after(LOST);
  assert.deepEqual(step('superseded', record), { step: 'revoke', asked: 'superseded' });
  assert.deepEqual(step('', record), { step: 'note', record: undefined });
});

test('an expired certificate is not revoked', () => {
  const found = step(asked, after(LOST), notAfter);
  assert.ok(found.step === 'note' && found.record?.state === 'refused');
  assert.equal(found.record.reason, 'Expired');
});

test('a signer that cannot be called now is waited for, and why is told', () => {
  const held = heldRevocation(
    { record: after(LOST), asked },
    { reason: 'SignerNotReady', message: 'not ready' },
  );
  assert.deepEqual([held.state, held.reason, held.failures], ['pending', 'SignerNotReady', 1]);
  assert.deepEqual(step(asked, held), { step: 'revoke', asked });
});

test('the status says all that the record has, and is read back as the same record', () => {
  for (const record of [after(LOST), after({ kind: 'ok', value: null })]) {
    const revocation = revocationStatusOf(record);
    assert.deepEqual(ORDER_STATUS.parse({ revocation }), { revocation });
    const read = revocationRecordOf(JSON.parse(JSON.stringify(revocation)) as never);
    assert.deepEqual(revocationStatusOf(read), revocation);
  }
});
