// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Problem } from '#acme/protocol/answer.ts';
import {
  afterRenewalInfo,
  CERTIFICATE_MARKED,
  failuresAfterRenewalInfo,
  nextRenewalStep,
  overdueAt,
  RENEWAL_DUE,
  type RenewalAnswer,
  type OrderRenewal,
} from '#acme/orders/renewal.ts';
import { timeOf, timeText, toWrite } from '#acme/orders/status.ts';
import { ORDER_STATUS } from '#api/acme/order.ts';
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

/** What an answer makes of a status. */
function after(answer: RenewalAnswer, status: OrderRenewal = {}, now = NOW): OrderRenewal {
  return afterRenewalInfo({ status, leaf: LEAF }, answer, failuresAfterRenewalInfo(answer, 0), now);
}

/** What is done with a status at a time. */
function step(status: OrderRenewal, now: number, more: object = {}) {
  return nextRenewalStep({ ...VIEW, status, ...more }, now);
}

function noted(status: OrderRenewal, now: number): OrderRenewal {
  const next = step(status, now);
  if (next.step !== 'note') assert.fail(next.step);
  return next.status;
}

test('renewal information is fetched at once, then as the server says, within bounds', () => {
  assert.deepEqual(step({}, NOW), { step: 'ask', meanwhile: undefined });
  for (const [retryAfterMs, hours] of [
    [undefined, 6],
    [60_000, 1],
    [5 * HOUR, 5],
    [365 * DAY, 7 * 24],
  ] as const) {
    const status = after(window(WINDOW.start, WINDOW.end, retryAfterMs));
    const checkAt = timeOf(status.checkAt) ?? 0;
    assert.ok(checkAt >= NOW + hours * HOUR && checkAt <= NOW + 1.1 * hours * HOUR, `${hours}`);
    assert.equal(step(status, checkAt - 1).step, 'note');
    assert.equal(step(status, checkAt).step, 'ask');
  }
});

test('what has just been issued is asked for within the hour, each at its own moment', () => {
  const waits = Array.from({ length: 100 }, (_, index) => {
    const leaf = { ...LEAF, id: `key.${index}` };
    const view = { ...VIEW, status: {}, leaf, issuedAt: NOW };
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
    return afterRenewalInfo({ status: {}, leaf }, window(WINDOW.start, WINDOW.end), 0, NOW).checkAt;
  });
  assert.ok(new Set(times).size > 90);
});

test('a window that moves moves the renewal, and a window of the past makes it due', () => {
  const first = after(window(WINDOW.start, WINDOW.end));
  const planned = timeOf(first.renewAt) ?? 0;
  assert.ok(planned >= WINDOW.start && planned <= WINDOW.end);
  assert.equal(first.reason, undefined);
  const moved = after(window(NOW - 2 * DAY, NOW - DAY), first, NOW + HOUR);
  assert.ok((timeOf(moved.renewAt) ?? Infinity) < NOW);
  assert.equal(moved.reason, RENEWAL_DUE);
  assert.match(
    moved.message ?? '',
    /the CA suggests 2026-11-20T12:00:00.000Z to 2026-11-21.*"https:\/\/ca\.example\/why"/,
  );
});

test('a renewal becomes due by time alone, and what became of it then stays', () => {
  const status = after(window(WINDOW.start, WINDOW.end, 7 * DAY));
  const at = timeOf(status.renewAt) ?? 0;
  const known = { ...status, checkAt: timeText(at + DAY) };
  assert.equal(noted(known, at - 1).reason, undefined);
  const due = noted(known, at);
  assert.equal(due.reason, RENEWAL_DUE);
  const marked = {
    ...due,
    reason: CERTIFICATE_MARKED,
    message: 'it is marked',
    markedAt: timeText(at),
  };
  assert.deepEqual(noted(marked, at + HOUR), marked);
  // The server says the same again.
  const again = after(window(WINDOW.start, WINDOW.end), marked, at + DAY);
  assert.deepEqual([again.reason, timeOf(again.markedAt)], [CERTIFICATE_MARKED, at]);
  // It takes the window back: the certificate is in use for longer.
  const later = after(window(NOW + 80 * DAY, NOW + 81 * DAY), marked, at + DAY);
  assert.equal(later.reason, undefined);
});

test('a failing server changes no known window and is queried again within minutes', () => {
  const first = after(window(WINDOW.start, WINDOW.end));
  for (const answer of [LOST, problem(503, 'none'), problem(429, 'rateLimited')]) {
    const { windowStart, windowEnd, renewAt, ...rest } = after(answer, first);
    assert.deepEqual(
      [windowStart, windowEnd, renewAt],
      [first.windowStart, first.windowEnd, first.renewAt],
    );
    const checkAt = timeOf(rest.checkAt) ?? 0;
    assert.ok(checkAt > NOW && checkAt <= NOW + 2 * 60_000, `${checkAt - NOW}`);
  }
  const limited = after(problem(429, 'rateLimited', 3 * HOUR), first);
  assert.ok((timeOf(limited.checkAt) ?? 0) >= NOW + 3 * HOUR);
  const away = after(problem(503, 'none', 7 * DAY), first);
  assert.ok((timeOf(away.checkAt) ?? Infinity) <= NOW + 2 * HOUR);
});

test('without a window renewal is due by thirds of the lifetime: six, 45 and 90 days', () => {
  const none: Problem = problem(404, 'none');
  for (const [life, share] of [
    [160 * HOUR, 1 / 2],
    [45 * DAY, 2 / 3],
    [90 * DAY, 2 / 3],
  ] as const) {
    const leaf = { ...LEAF, notAfter: NOW + life };
    const status = afterRenewalInfo({ status: {}, leaf }, none, 0, NOW);
    assert.equal(timeOf(status.renewAt), NOW + life * share);
    assert.equal(status.reason, 'NoRenewalInfo');
    // The same where nobody asks.
    const off = nextRenewalStep({ ...VIEW, status: {}, leaf, asks: false }, NOW);
    assert.equal(off.step === 'note' && timeOf(off.status.renewAt), NOW + life * share);
  }
  // A server that has no renewal information is not asked the whole day.
  assert.ok((timeOf(after(none).checkAt) ?? 0) >= NOW + DAY);
});

test('what was replaced, or has expired, is renewed no more', () => {
  const status = after(window(WINDOW.start, WINDOW.end));
  assert.deepEqual(step(status, NOW, { isReplaced: true }), { step: 'done' });
  assert.deepEqual(step(status, LEAF.notAfter), { step: 'done' });
});

test('a renewal is never planned after expiry, and its status can be read back', () => {
  const time = fc.integer({ min: NOW - 400 * DAY, max: NOW + 400 * DAY });
  fc.assert(
    fc.property(time, time, fc.nat(90 * DAY), (start, end, since) => {
      const now = NOW + since;
      const status = after(window(start, end), {}, now);
      assert.ok((timeOf(status.renewAt) ?? Infinity) <= LEAF.notAfter);
      const written = toWrite(status);
      assert.deepEqual(ORDER_STATUS.parse({ renewal: written }), { renewal: written });
      const again = nextRenewalStep({ ...VIEW, status: written }, now);
      assert.ok(again.step === 'done' || again.step === 'note');
      if (again.step === 'note') {
        assert.deepEqual(toWrite(again.status), written);
      }
    }),
  );
});

test('a renewal is overdue after a day, sooner where the certificate ends sooner', () => {
  assert.equal(overdueAt(NOW, NOW + 30 * DAY), NOW + DAY);
  assert.equal(overdueAt(NOW, NOW + HOUR), NOW + HOUR / 2);
  assert.equal(overdueAt(NOW, NOW - HOUR), NOW);
});
