// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { callBackOff, nextOrderAt } from '#acme/orders/back-off.ts';
import { afterAccepting, afterReading, NEW_CHALLENGE } from '#acme/orders/challenge-events.ts';
import { NO_CHALLENGE_MEMORY, NO_ORDER_MEMORY } from '#acme/orders/memory.ts';
import { afterOrder, type OrderBefore } from '#acme/orders/order-events.ts';
import { renewalPollMs } from '#acme/orders/poll-intervals.ts';
import { renewAt } from '#acme/orders/renewal-plan.ts';
import { chooseSolver } from '#acme/orders/solver-choice.ts';
import { timeOf } from '#acme/orders/status.ts';
import type { AcmeSolver } from '#api/acme/acme-signer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('a failed Order is followed by another after a minute, doubling to six hours', () => {
  const waits = [1, 2, 3, 4, 9, 40].map((count) => {
    // Failures of long ago, so that the hour counts none but the last.
    const failedAt = Array.from({ length: count }, (_, index) => (index - count + 1) * DAY);
    return nextOrderAt(failedAt, 'uid') / MINUTE;
  });
  for (const [index, least] of [1, 2, 4, 8, 256, 360].entries()) {
    const wait = waits[index] ?? 0;
    assert.ok(wait >= least && wait <= least * 1.1, `${wait}`);
  }
  assert.equal(nextOrderAt([], 'uid'), 0);
});

test('a request that fails again and again has never five failures within an hour', () => {
  fc.assert(
    fc.property(fc.string(), (uid) => {
      const failedAt: number[] = [];
      for (let now = 0; failedAt.length < 40; now = Math.max(now + 1, nextOrderAt(failedAt, uid)))
        failedAt.push(now);
      for (const [index, at] of failedAt.entries())
        assert.ok(failedAt.slice(index).filter((other) => other < at + HOUR).length <= 4);
    }),
  );
});

test('waits of many objects spread over a tenth; each object’s wait is constant', () => {
  const waits = Array.from({ length: 1000 }, (_, index) => callBackOff(3, `uid-${index}`));
  assert.ok(Math.min(...waits) >= 8 * SECOND && Math.max(...waits) <= 8.8 * SECOND);
  assert.ok(new Set(waits).size > 500);
  assert.equal(callBackOff(3, 'uid-1'), callBackOff(3, 'uid-1'));
  assert.ok(callBackOff(10_000, 'uid') <= 11 * MINUTE);
});

test('a certificate is renewed within the server’s window, each at its own moment', () => {
  const life = { notBefore: 0, notAfter: 90 * DAY };
  const window = { start: 60 * DAY, end: 62 * DAY };
  const all = Array.from({ length: 1000 }, (_, index) => renewAt({ ...life, window }, `c${index}`));
  assert.ok(all.every((at) => at >= window.start && at < window.end));
  const early = all.filter((at) => at < 61 * DAY).length;
  assert.ok(early > 400 && early < 600, `${early}`);
});

test('a window after the certificate’s end, or an invalid one, never renews too late', () => {
  fc.assert(
    fc.property(fc.nat(1000 * DAY), fc.integer(), fc.integer(), (life, start, end) => {
      const notAfter = life + HOUR;
      const at = renewAt({ notBefore: 0, notAfter, window: { start, end } }, 'c');
      assert.ok(at <= notAfter, `${at}`);
    }),
  );
});

test('lives of six, 45 and 90 days need no setting', () => {
  const renewed = [160 * HOUR, 45 * DAY, 90 * DAY].map((notAfter) =>
    renewAt({ notBefore: 0, notAfter }, 'c'),
  );
  assert.deepEqual(renewed, [80 * HOUR, 30 * DAY, 60 * DAY]);
});

test('a window is fetched again within an hour to a week, sooner after an error', () => {
  const polls = [undefined, SECOND, 6 * HOUR, 100 * DAY].map(
    (each) => renewalPollMs(each, 0) / HOUR,
  );
  assert.deepEqual(polls, [6, 1, 6, 168]);
  assert.deepEqual(
    [1, 2, 3, 100].map((failures) => renewalPollMs(7 * DAY, failures) / MINUTE),
    [1, 2, 4, 360],
  );
});

/** Those without `http01` solve dns-01. */
const SOLVERS: readonly Pick<AcmeSolver, 'name' | 'selector' | 'http01' | 'persist'>[] = [
  { name: 'any', http01: {} },
  { name: 'any-dns' },
  { name: 'labelled', selector: { matchLabels: { team: 'a' } } },
  { name: 'zone', selector: { dnsZones: ['example.com'] } },
  { name: 'deep-zone', selector: { dnsZones: ['b.example.com', 'other.example'] } },
  { name: 'exact', http01: {}, selector: { dnsNames: ['www.b.example.com'] } },
  { name: 'exact-wildcard', selector: { dnsNames: ['*.w.example.com'] } },
];
const BOTH = ['http-01', 'dns-01'];

const CHOICES: readonly [
  what: string,
  wanted: Partial<Parameters<typeof chooseSolver>[1]>,
  solver: string | undefined,
][] = [
  ['none is more specific: the first', { name: 'a.org' }, 'any'],
  ['labels', { name: 'a.org', labels: { team: 'a', x: 'y' } }, 'labelled'],
  ['other labels', { name: 'a.org', labels: { team: 'b' } }, 'any'],
  ['a zone before labels', { name: 'x.example.com', labels: { team: 'a' } }, 'zone'],
  ['the zone itself', { name: 'example.com' }, 'zone'],
  ['no zone ends within a label', { name: 'badexample.com' }, 'any'],
  ['the longer zone', { name: 'x.b.example.com' }, 'deep-zone'],
  ['the exact name', { name: 'www.b.example.com' }, 'exact'],
  ['HTTP proves no wildcard', { name: 'a.org', wildcard: true }, 'any-dns'],
  ['an exact wildcard', { name: 'w.example.com', wildcard: true }, 'exact-wildcard'],
  ['an exact wildcard is not its base', { name: 'w.example.com' }, 'zone'],
  ['only what the server offers', { name: 'www.b.example.com', offered: ['dns-01'] }, 'deep-zone'],
  ['nothing fits', { name: 'a.org', offered: ['tls-alpn-01'] }, undefined],
];

for (const [what, wanted, solver] of CHOICES) {
  test(`the most specific solver proves a name: ${what}`, () => {
    const all = { name: '', wildcard: false, offered: BOTH, labels: {}, ...wanted };
    assert.equal(chooseSolver(SOLVERS, all)?.name, solver);
  });
}

/** Waits after answers that all say the same, in seconds. */
function waitsOf<T extends { readonly status: { readonly nextAttemptAt?: string } }>(
  first: T,
  next: (before: T) => T,
): readonly number[] {
  const waits: number[] = [];
  for (let after = first; waits.length < 6; after = next(after))
    waits.push((timeOf(after.status.nextAttemptAt) ?? 0) / SECOND);
  return waits;
}

test('a busy server is polled after one second, doubling to ten, or by Retry-After', () => {
  const busy = { url: 'o', status: 'processing', authorizations: [], finalize: 'f' } as const;
  const order = { uid: 'u', replaces: false, now: 0 };
  const made = { ...order, status: {}, memory: NO_ORDER_MEMORY };
  const read = (before: Pick<OrderBefore, 'status' | 'memory'>, retryAfterMs?: number) =>
    afterOrder({ ...order, ...before }, 'readOrder', {
      kind: 'ok',
      value: busy,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  assert.deepEqual(waitsOf(read(made), read), [1, 2, 4, 8, 10, 10]);
  assert.equal(timeOf(read(made, 33 * SECOND).status.nextAttemptAt), 33 * SECOND);

  const about = { uid: 'u', now: 0 };
  const told = { ...about, status: NEW_CHALLENGE, memory: NO_CHALLENGE_MEMORY };
  const validating = { authorization: 'pending', challenge: 'processing' } as const;
  assert.deepEqual(
    waitsOf(afterAccepting(told, { kind: 'ok', value: null }), (before) =>
      afterReading({ ...about, ...before }, { kind: 'ok', value: validating }),
    ),
    [1, 2, 4, 8, 10, 10],
  );
});

test('a server that requests a week for a poll is polled after an hour', () => {
  const before = { uid: 'u', replaces: false, now: 0, status: {}, memory: NO_ORDER_MEMORY };
  const busy = { url: 'o', status: 'processing', authorizations: [], finalize: 'f' } as const;
  const order = afterOrder(before, 'readOrder', { kind: 'ok', value: busy, retryAfterMs: 7 * DAY });
  assert.equal(timeOf(order.status.nextAttemptAt), HOUR);
  const told = { uid: 'u', now: 0, status: NEW_CHALLENGE, memory: NO_CHALLENGE_MEMORY };
  const accepted = afterAccepting(told, { kind: 'ok', value: null, retryAfterMs: 7 * DAY });
  assert.equal(timeOf(accepted.status.nextAttemptAt), HOUR);
  const value = { authorization: 'pending', challenge: 'processing' } as const;
  const read = afterReading(told, { kind: 'ok', value, retryAfterMs: 7 * DAY });
  assert.equal(timeOf(read.status.nextAttemptAt), HOUR);
});
