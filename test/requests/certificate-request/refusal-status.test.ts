// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinished, type CertificateRequest } from '#api/request/certificate-request.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { NotIssued } from '#requests/issuing/issuing-ca.ts';
import { NOW } from '../../support/pki/chain.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import { certificateRequestStage, type Stage } from '../../support/requests/issuance-stage.ts';

/** A CA that gives no chain; {@link NOW} as the API writes times. */
function stageOf(held: Omit<NotIssued, 'kind'>, maxRetryMs?: number): Stage<CertificateRequest> {
  const issue = (): Promise<NotIssued> => Promise.resolve({ kind: 'notIssued', ...held });
  const { facts } = openIntermediate();
  return certificateRequestStage(
    {},
    { issuing: () => ({ validity: facts, identity: 'another CA', issue }), maxRetryMs },
  );
}

const written = (stage: Stage<CertificateRequest>): CertificateRequest | undefined =>
  stage.sent()[0];
const AT = new Date(NOW).toISOString().replace('.000Z', 'Z');

test('permanent: the request is Failed with the message of the CA', async () => {
  const stage = stageOf({ how: 'permanent', message: 'no' });
  const outcome = await stage.handle();
  const ended = written(stage);
  assert.ok(ended !== undefined && isFinished(ended));
  assert.equal(ended.status?.failureTime, AT);
  assert.deepEqual(
    [outcome.outcome, outcome.reason, outcome.message],
    ['failed', 'PermanentError', 'no'],
  );
  assert.deepEqual(outcome.written, stage.server.stored);
  const ready = ended.status.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.reason, ready?.message], ['Failed', 'PermanentError: no']);
});

const waits = [
  ['retry', 'SignFailed', { backoffUntil: Infinity }, true],
  ['pending', 'Pending', { requeueAt: NOW + 700 + 7_500 }, false],
  ['issuer', 'IssuerError', 'on-change', false],
] as const;

for (const [how, reason, again, hasEvent] of waits) {
  test(`${how}: the request waits, and nothing is written`, async () => {
    const stage = stageOf({ how, message: 'later', afterMs: 7_500 });
    const outcome = await stage.handle();
    assert.deepEqual(stage.requests, []);
    assert.deepEqual([outcome.outcome, outcome.reason, outcome.again], ['waiting', reason, again]);
    assert.equal(outcome.event !== undefined, hasEvent);
  });
}

test('pending: the delay counts by the local clock, whatever its offset', async () => {
  const stage = stageOf({ how: 'pending', message: 'later', afterMs: 7_000 });
  stage.ahead(500);
  assert.deepEqual((await stage.handle()).again, { requeueAt: NOW + 700 + 500 + 7_000 });
});

test('a condition is stored once, in cert-manager’s form, with one time', async () => {
  const condition: Condition = { type: 'Order', status: 'True', reason: 'Made', message: '7' };
  const stage = stageOf({ how: 'pending', message: '', condition });
  const outcome = await stage.handle();
  assert.deepEqual(outcome.changed, stage.server.stored);
  assert.equal(outcome.written, undefined);
  assert.deepEqual(stage.server.stored?.status?.conditions?.at(-1), {
    ...condition,
    lastTransitionTime: AT,
  });
  await stage.handle(stage.server.stored);
  assert.deepEqual(stage.methods(), ['PUT']);
});

test('an ordinary error fails the request at the limit with the last message', async () => {
  const LIMIT = 60_000;
  const stage = stageOf({ how: 'retry', message: 'CA is away' }, LIMIT);
  const created = Date.parse(stage.request.metadata.creationTimestamp);
  stage.later(created + LIMIT - 1 - (NOW + 700));
  assert.deepEqual((await stage.handle()).again, { backoffUntil: created + LIMIT });
  assert.deepEqual(stage.requests, []);
  stage.later(1);
  assert.equal((await stage.handle()).outcome, 'failed');
  const ended = written(stage);
  assert.ok(ended !== undefined && isFinished(ended));
  const ready = ended.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.reason, ready?.message], ['Failed', 'RetriesExhausted: CA is away']);
});
