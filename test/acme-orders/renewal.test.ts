// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Problem } from '../../src/acme/answer.ts';
import {
  afterRenewalInfo,
  CERTIFICATE_MARKED,
  isOfTheServer,
  nextRenewalStep,
  overdueAt,
  RENEWAL_DUE,
  type RenewalAnswer,
  type RenewalRecord,
} from '../../src/acme-orders/renewal.ts';
import { renewalRecordOf, renewalStatusOf } from '../../src/acme-orders/status/renewal.ts';
import { LOST, problem } from './simulated-ca.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-22T12:00:00Z');
const LEAF = { id: 'key.serial', notBefore: NOW, notAfter: NOW + 90 * DAY };
const VIEW = { leaf: LEAF, issuedAt: NOW - DAY, isReplaced: false, asks: true };
const WINDOW = { start: NOW + 58 * DAY, end: NOW + 60 * DAY };

function window(start: number, end: number, retryAfterMs?: number): RenewalAnswer {
  const waiting = retryAfterMs === undefined ? {} : { retryAfterMs };
  return {
    kind: 'ok',
    value: { start, end, explanationURL: 'https://ca.example/why' },
    ...waiting,
  };
}

/** What an answer makes of a record. */
function after(answer: RenewalAnswer, record: RenewalRecord = {}, now = NOW): RenewalRecord {
  return afterRenewalInfo({ record, leaf: LEAF }, answer, isOfTheServer(answer) ? 1 : 0, now);
}

/** What is done with a record at a time. */
function step(record: RenewalRecord, now: number, more: object = {}) {
  return nextRenewalStep({ ...VIEW, record, ...more }, now);
}

function noted(record: RenewalRecord, now: number): RenewalRecord {
  const next = step(record, now);
  if (next.step !== 'note') assert.fail(next.step);
  return next.record;
}

test('a certificate is asked for at once, and then when the server wants it, within an hour and a week', () => {
  assert.deepEqual(step({}, NOW), { step: 'ask', meanwhile: undefined });
  for (const [retryAfterMs, hours] of [
    [undefined, 6],
    [60_000, 1],
    [5 * HOUR, 5],
    [365 * DAY, 7 * 24],
  ] as const) {
    const { checkAt = 0 } = after(window(WINDOW.start, WINDOW.end, retryAfterMs));
    assert.ok(checkAt >= NOW + hours * HOUR && checkAt <= NOW + 1.1 * hours * HOUR, `${hours}`);
    const record = after(window(WINDOW.start, WINDOW.end, retryAfterMs));
    assert.equal(step(record, checkAt - 1).step, 'note');
    assert.equal(step(record, checkAt).step, 'ask');
  }
});

test('what has just been issued is asked for within the hour, each at its own moment', () => {
  const waits = Array.from({ length: 100 }, (_, index) => {
    const leaf = { ...LEAF, id: `key.${index}` };
    const view = { ...VIEW, record: {}, leaf, issuedAt: NOW };
    const next = nextRenewalStep(view, NOW);
    if (next.step !== 'wait') assert.fail(next.step);
    assert.equal(nextRenewalStep(view, next.until).step, 'ask');
    return next.until - NOW;
  });
  assert.ok(waits.every((wait) => wait >= 0 && wait < HOUR));
  assert.ok(new Set(waits).size > 90);
});

test('what was issued together is not asked for together ever after', () => {
  const times = Array.from({ length: 100 }, (_, index) => {
    const leaf = { ...LEAF, id: `key.${index}` };
    return afterRenewalInfo({ record: {}, leaf }, window(WINDOW.start, WINDOW.end), 0, NOW).checkAt;
  });
  assert.ok(new Set(times).size > 90);
});

test('a window that moves moves the renewal, and a window of the past makes it due', () => {
  const first = after(window(WINDOW.start, WINDOW.end));
  assert.ok((first.renewAt ?? 0) >= WINDOW.start && (first.renewAt ?? 0) <= WINDOW.end);
  assert.equal(first.reason, undefined);
  const moved = after(window(NOW - 2 * DAY, NOW - DAY), first, NOW + HOUR);
  assert.ok((moved.renewAt ?? Infinity) < NOW);
  assert.equal(moved.reason, RENEWAL_DUE);
  assert.match(
    moved.message ?? '',
    /the CA suggests 2026-11-20T12:00:00.000Z to 2026-11-21.*"https:\/\/ca\.example\/why"/,
  );
});

test('a renewal becomes due by time alone, and what became of it then stays', () => {
  const record = after(window(WINDOW.start, WINDOW.end, 7 * DAY));
  const at = record.renewAt ?? 0;
  const known = { ...record, checkAt: at + DAY };
  assert.equal(noted(known, at - 1).reason, undefined);
  const due = noted(known, at);
  assert.equal(due.reason, RENEWAL_DUE);
  const marked = { ...due, reason: CERTIFICATE_MARKED, message: 'it is marked', markedAt: at };
  assert.deepEqual(noted(marked, at + HOUR), marked);
  // The server says the same again.
  const again = after(window(WINDOW.start, WINDOW.end), marked, at + DAY);
  assert.deepEqual([again.reason, again.markedAt], [CERTIFICATE_MARKED, at]);
  // It takes the window back: the certificate is in use for longer.
  const later = after(window(NOW + 80 * DAY, NOW + 81 * DAY), marked, at + DAY);
  assert.equal(later.reason, undefined);
});

test('a server that fails changes no window that is known, and is asked again within minutes', () => {
  const first = after(window(WINDOW.start, WINDOW.end));
  for (const answer of [LOST, problem(503, 'none'), problem(429, 'rateLimited')]) {
    const { checkAt = 0, ...rest } = after(answer, first);
    assert.deepEqual([rest.window, rest.renewAt], [first.window, first.renewAt]);
    assert.ok(checkAt > NOW && checkAt <= NOW + 2 * 60_000, `${checkAt - NOW}`);
  }
  const limited = after(problem(429, 'rateLimited', 3 * HOUR), first);
  assert.ok((limited.checkAt ?? 0) >= NOW + 3 * HOUR);
});

test('without a window the issued life decides, by thirds: six, 45 and 90 days need no setting', () => {
  const none: Problem = problem(404, 'none');
  for (const [life, share] of [
    [160 * HOUR, 1 / 2],
    [45 * DAY, 2 / 3],
    [90 * DAY, 2 / 3],
  ] as const) {
    const leaf = { ...LEAF, notAfter: NOW + life };
    const record = afterRenewalInfo({ record: {}, leaf }, none, 0, NOW);
    assert.equal(record.renewAt, NOW + life * share);
    assert.equal(record.reason, 'NoRenewalInfo');
    // The same where nobody asks.
    const off = nextRenewalStep({ ...VIEW, record: {}, leaf, asks: false }, NOW);
    assert.equal(off.step === 'note' && off.record.renewAt, NOW + life * share);
  }
  // A server that has no renewal information is not asked the whole day.
  assert.ok((after(none).checkAt ?? 0) >= NOW + DAY);
});

test('what was replaced, or has expired, is renewed no more', () => {
  const record = after(window(WINDOW.start, WINDOW.end));
  assert.deepEqual(step(record, NOW, { isReplaced: true }), { step: 'done' });
  assert.deepEqual(step(record, LEAF.notAfter), { step: 'done' });
});

test('whatever the server says and whenever, a renewal is never planned after the end, and its status can be read again', () => {
  const time = fc.integer({ min: NOW - 400 * DAY, max: NOW + 400 * DAY });
  fc.assert(
    fc.property(time, time, fc.nat(90 * DAY), (start, end, since) => {
      const now = NOW + since;
      const record = after(window(start, end), {}, now);
      assert.ok((record.renewAt ?? Infinity) <= LEAF.notAfter);
      const read = renewalRecordOf(renewalStatusOf(record));
      const again = nextRenewalStep({ ...VIEW, record: read }, now);
      assert.ok(again.step === 'done' || again.step === 'note');
      if (again.step === 'note') {
        assert.deepEqual(renewalStatusOf(again.record), renewalStatusOf(record));
      }
    }),
  );
});

test('a renewal is overdue after a day, sooner where the certificate ends sooner', () => {
  assert.equal(overdueAt(NOW, NOW + 30 * DAY), NOW + DAY);
  assert.equal(overdueAt(NOW, NOW + HOUR), NOW + HOUR / 2);
  assert.equal(overdueAt(NOW, NOW - HOUR), NOW);
});
