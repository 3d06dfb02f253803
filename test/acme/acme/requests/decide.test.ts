// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGNER_VERSION_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { decide, type OrderPlan, type OrdersOfRequest } from '#acme/acme/requests/decide.ts';
import { ASKED, at, HOUR, MINUTE, NOW, order } from './build.ts';

function planOf(orders: readonly Order[], more: Partial<OrdersOfRequest> = {}): OrderPlan {
  const view = {
    uid: 'request-1',
    asked: ASKED,
    retriedNow: false,
    signerVersion: 's.1',
    hold: undefined,
    now: NOW,
  };
  return decide({ ...view, orders, wrongChain: () => undefined, ...more });
}

const failed = (attempt: number, ago: number): Order =>
  order(attempt, { state: 'invalid', reason: 'Incorrect', message: 'no', finalAt: at(NOW - ago) });

function removed(plan: OrderPlan): readonly string[] {
  return plan.kind === 'remove' ? plan.orders.map(({ metadata }) => metadata.name).sort() : [];
}

test('a request without an Order gets one', () => {
  assert.deepEqual(planOf([]), { kind: 'create' });
});

test('while an Order is live no other one is made', () => {
  assert.equal(planOf([order(1)]).kind, 'wait');
  assert.equal(planOf([order(1, { state: 'processing', url: 'https://a/o' })]).kind, 'wait');
  // The chain is not downloaded yet.
  assert.equal(planOf([order(1, { state: 'valid', url: 'https://a/o' })]).kind, 'wait');
});

test('a live Order is looked at again when it goes on, and its reason is told', () => {
  const until = NOW + 5 * MINUTE;
  const status = { reason: 'RateLimited', message: 'later', nextAttemptAt: at(until) };
  assert.deepEqual(planOf([order(1, status)]), {
    kind: 'wait',
    until,
    message: 'Order web-1: RateLimited: later',
  });
});

test('the chain of the newest Order is delivered', () => {
  const plan = planOf([order(2, { state: 'valid', certificate: 'new' }), failed(1, HOUR)]);
  assert.deepEqual(plan, { kind: 'deliver', chain: 'new' });
});

test('a chain that does not match the request is not delivered; another Order follows', () => {
  const issued = order(1, { state: 'valid', certificate: 'pem', finalAt: at(NOW - HOUR) });
  assert.deepEqual(planOf([issued], { wrongChain: () => 'another key' }), { kind: 'create' });
  const young = order(1, { state: 'valid', certificate: 'pem', finalAt: at(NOW) });
  assert.match(
    String(Object.values(planOf([young], { wrongChain: () => 'another key' })).at(-1)),
    /^Order web-1 has another key; the next one is made at /,
  );
});

test('an Order whose certificate was wrong is repeated once the signer changes', () => {
  const wrong = {
    state: 'invalid',
    reason: 'WrongCertificate',
    message: 'the CA returned x',
  } as const;
  const ended = order(1, { ...wrong, finalAt: at(NOW - 100 * HOUR) });
  const annotations = { [SIGNER_VERSION_ANNOTATION]: 's.1' };
  const marked = { ...ended, metadata: { ...ended.metadata, annotations } };
  const held = planOf([marked]);
  assert.ok(held.kind === 'wait' && held.until === undefined);
  assert.match(held.message, /the CA returned x; .*none follows until the signer changes/);
  assert.deepEqual(planOf([marked], { signerVersion: 's.2' }), { kind: 'create' });
  // A signer of the same name that was made again.
  assert.deepEqual(planOf([marked], { signerVersion: 't.1' }), { kind: 'create' });
  assert.deepEqual(planOf([marked], { retriedNow: true }), { kind: 'create' });
  // An earlier version marked no Orders.
  assert.deepEqual(planOf([ended]), { kind: 'create' });
  const other = { ...marked, status: { ...marked.status, reason: 'OrderInvalid' } };
  assert.deepEqual(planOf([other]), { kind: 'create' });
});

test('a request of a held signer waits, unless a user deletes its Order', () => {
  const hold = { until: NOW + HOUR, message: 'held' };
  const waits = { kind: 'wait', ...hold } as const;
  assert.deepEqual(planOf([], { hold }), waits);
  assert.deepEqual(planOf([failed(1, 100 * HOUR)], { hold }), waits);
  assert.deepEqual(planOf([failed(1, 0)], { hold, retriedNow: true }), { kind: 'create' });
  const issued = order(1, { state: 'valid', certificate: 'pem' });
  assert.deepEqual(planOf([issued], { hold }), { kind: 'deliver', chain: 'pem' });
});

test('what the CA says can never be answered ends the request', () => {
  const never = order(1, { state: 'failed', reason: 'BadCSR', message: 'weak' });
  assert.deepEqual(planOf([never]), { kind: 'fail', message: 'BadCSR: weak' });
});

test('after a failed Order the next one waits a minute, and longer after each', () => {
  const one = planOf([failed(1, 30_000)]);
  assert.ok(one.kind === 'wait' && one.until !== undefined && one.until - NOW <= 0.6 * MINUTE);
  assert.equal(planOf([failed(1, 2 * MINUTE)]).kind, 'create');
  assert.equal(planOf([failed(1, HOUR), failed(2, 1.5 * MINUTE)]).kind, 'wait');
  assert.equal(planOf([failed(1, HOUR), failed(2, 3 * MINUTE)]).kind, 'create');
});

test('there is never a fifth failure within one hour', () => {
  const four = [failed(1, 50 * MINUTE), failed(2, 40 * MINUTE), failed(3, 30 * MINUTE)];
  const plan = planOf([...four, failed(4, 20 * MINUTE)]);
  assert.ok(plan.kind === 'wait' && plan.until === NOW + 10 * MINUTE, JSON.stringify(plan));
});

test('whoever deletes the newest Order gets the next at once', () => {
  assert.equal(planOf([failed(1, 0)], { retriedNow: true }).kind, 'create');
});

test('an Order for another PKCS#10 request or other names is removed, live or not', () => {
  assert.deepEqual(removed(planOf([order(1, {}, { request: 'BBBB' })])), ['web-1']);
  const names = [{ type: 'dns' as const, value: 'b.example' }];
  const issued = { state: 'valid', certificate: 'pem' } as const;
  assert.deepEqual(removed(planOf([order(1, issued, { identifiers: names })])), ['web-1']);
});

test('the order of the names makes no difference', () => {
  const [a, b] = ['a.example', 'b.example'].map((value) => ({ type: 'dns' as const, value }));
  assert.ok(a !== undefined && b !== undefined);
  const live = order(1, {}, { identifiers: [b, a] });
  assert.equal(planOf([live], { asked: { ...ASKED, identifiers: [a, b] } }).kind, 'wait');
});

test('an Order of another profile is removed only while the server has no order', () => {
  const asked = { ...ASKED, profile: 'tlsserver' };
  assert.deepEqual(removed(planOf([order(1)], { asked })), ['web-1']);
  assert.equal(planOf([order(1, { url: 'https://a/o' })], { asked }).kind, 'wait');
});

test('of two live Orders the older one is removed', () => {
  assert.deepEqual(removed(planOf([order(1), order(2)])), ['web-1']);
});

test('ten Orders that came to nothing are kept, since the wait grows with them', () => {
  const ten = Array.from({ length: 10 }, (_none, index) => failed(index + 1, HOUR));
  assert.notEqual(planOf(ten).kind, 'remove');
  assert.deepEqual(removed(planOf([...ten, failed(11, HOUR)])), ['web-1']);
});
