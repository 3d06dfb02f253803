// SPDX-License-Identifier: Apache-2.0
/**
 * With `--max-age`, a request that gets no answer ends; without it, it waits as long as it is
 * there.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinished } from '#api/request/certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import { KeptRecords } from '../../support/ledger/kept-records.ts';
import { certificateRequestStage } from '../../support/requests/issuance-stage.ts';
import { NOW } from '../../support/pki/chain.ts';

const MAX_AGE = 3_600_000;
const REFUSED = { dnsNames: ['example.com'] };

type Stage = ReturnType<typeof certificateRequestStage>;

/** Lets the clock of a stage show this age of its request. */
function age(stage: Stage, milliseconds: number): void {
  const created = Date.parse(stage.request.metadata.creationTimestamp);
  stage.later(created + milliseconds - (NOW + 700));
}

test('a request that no rule allows fails with the last message at the maximum age', async () => {
  const stage = certificateRequestStage(REFUSED, { maxAgeMs: MAX_AGE });
  const created = Date.parse(stage.request.metadata.creationTimestamp);
  age(stage, MAX_AGE - 1);
  const before = await stage.handle();
  assert.deepEqual(
    [before.outcome, before.again, stage.methods()],
    ['undecided', { requeueAt: created + MAX_AGE }, []],
  );
  stage.later(1);
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['failed', 'RetriesExhausted']);
  const [sent] = stage.sent();
  assert.ok(sent !== undefined && isFinished(sent));
  const ready = sent.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.match(ready?.message ?? '', /^RetriesExhausted: .*services-of-a-team.*example\.com/);
  assert.deepEqual(outcome.written, stage.server.stored);
});

test('the next look at a request is at its age by our own clock, whatever its offset', async () => {
  const stage = certificateRequestStage(REFUSED, { maxAgeMs: MAX_AGE });
  stage.ahead(500);
  const created = Date.parse(stage.request.metadata.creationTimestamp);
  assert.deepEqual((await stage.handle()).again, { requeueAt: created + MAX_AGE + 500 });
});

test('past the maximum age, a request without a ready CA waits', async () => {
  const error = new SignerError({
    code: 'AUTHORITY_MISSING',
    disposition: 'authority',
    message: 'no CA yet',
  });
  const issuing = (): never => {
    throw error;
  };
  const waiting = certificateRequestStage({}, { maxAgeMs: MAX_AGE, issuing });
  age(waiting, 10 * MAX_AGE);
  await assert.rejects(() => waiting.handle(), error);
  assert.deepEqual(waiting.methods(), []);
});

test('past the maximum age, an outage of the API server or the ledger ends nothing', async () => {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'certificate-request');
  const stage = certificateRequestStage({}, { maxAgeMs: MAX_AGE, recorder });
  age(stage, 2 * MAX_AGE);
  ledger.away = true;
  await assert.rejects(stage.handle(), { code: 'LEDGER_UNAVAILABLE' });
  assert.deepEqual(stage.methods(), []);
  ledger.away = false;
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle(), { code: 'KUBE_UNAVAILABLE' });
  assert.equal((await stage.handle()).outcome, 'issued');
});

test('the end of a request at its maximum age is recorded before it is written', async () => {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'certificate-request');
  const stage = certificateRequestStage(REFUSED, { maxAgeMs: MAX_AGE, recorder });
  age(stage, 2 * MAX_AGE);
  ledger.away = true;
  await assert.rejects(stage.handle(), { code: 'LEDGER_UNAVAILABLE' });
  assert.deepEqual(stage.methods(), []);
  ledger.away = false;
  assert.equal((await stage.handle()).reason, 'RetriesExhausted');
  assert.deepEqual(
    ledger.of('failed').map(({ reason }) => reason),
    ['RetriesExhausted'],
  );
});

test('an old request that a rule allows is issued', async () => {
  const stage = certificateRequestStage({}, { maxAgeMs: MAX_AGE });
  age(stage, 10 * MAX_AGE);
  assert.equal((await stage.handle()).outcome, 'issued');
});

test('without a maximum age, no request ends by its age', async () => {
  const stage = certificateRequestStage(REFUSED);
  age(stage, 1000 * MAX_AGE);
  assert.equal((await stage.handle()).outcome, 'undecided');
  assert.deepEqual(stage.methods(), []);
});
