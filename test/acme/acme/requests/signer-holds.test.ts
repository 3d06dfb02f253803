// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refOfAcmeSigner } from '#api/acme/acme-signer.ts';
import { SIGNER_VERSION_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { createSignerHolds } from '#acme/acme/requests/signer-holds.ts';
import { signerVersionOf } from '#acme/acme/requests/signer-version.ts';
import { at, HOUR, MINUTE, NOW, order, SIGNER } from './build.ts';

const CHANGED = { ...SIGNER, metadata: { ...SIGNER.metadata, generation: 2 } };

/** An Order that was created so long after NOW; it ends then, unless it is live. */
function orderAt(attempt: number, createdMs: number, status: Order['status'] = {}): Order {
  const made = order(attempt, status, { signerRef: refOfAcmeSigner(SIGNER) });
  const annotations = { [SIGNER_VERSION_ANNOTATION]: signerVersionOf(SIGNER) };
  return {
    ...made,
    metadata: { ...made.metadata, annotations, creationTimestamp: at(NOW + createdMs) },
  };
}

const unusable = (endMs: number): Order['status'] => ({
  state: 'invalid',
  reason: 'CaUnusable',
  message: 'the CA returned x',
  finalAt: at(NOW + endMs),
});
const issued = (endMs: number): Order['status'] => ({
  state: 'valid',
  certificate: 'pem',
  finalAt: at(NOW + endMs),
});

/** Records Orders that were live first. @returns the time that the signer is held until */
function heldUntil(orders: readonly Order[], now: number, signer = SIGNER): number | undefined {
  const holds = createSignerHolds();
  for (const each of orders) {
    const live = { ...each, status: {} };
    holds.observe(live, undefined);
    if (each.status.finalAt !== undefined) holds.observe(each, live);
  }
  return holds.of(signer, NOW + now)?.until;
}

test('a signer is held for an hour after its CA failed, and for that version alone', () => {
  const failed = [orderAt(1, 0, unusable(MINUTE))];
  assert.equal(heldUntil(failed, 2 * MINUTE), NOW + HOUR + MINUTE);
  assert.equal(heldUntil(failed, HOUR + MINUTE), undefined);
  assert.equal(heldUntil(failed, 2 * MINUTE, CHANGED), undefined);
  const other = orderAt(1, 0, { ...unusable(MINUTE), reason: 'WrongCertificate' });
  assert.equal(heldUntil([other], 2 * MINUTE), undefined);
});

test('the hold doubles with each Order that tries the CA, to a day', () => {
  const tried = Array.from({ length: 8 }, (_none, index) => {
    const ms = index * 30 * HOUR;
    return orderAt(index + 1, ms, unusable(ms + MINUTE));
  });
  const hours = tried.map((_each, index) => {
    const end = NOW + index * 30 * HOUR + MINUTE;
    const until = heldUntil(tried.slice(0, index + 1), index * 30 * HOUR + MINUTE) ?? end;
    return (until - end) / HOUR;
  });
  assert.deepEqual(hours, [1, 2, 4, 8, 16, 24, 24, 24]);
});

test('Orders that were live together count once', () => {
  const both = [orderAt(1, 0, unusable(MINUTE)), orderAt(2, 0, unusable(2 * MINUTE))];
  assert.equal(heldUntil(both, 3 * MINUTE), NOW + HOUR + 2 * MINUTE);
});

test('while one Order tries the CA the others wait, an hour at most', () => {
  const tries = [orderAt(1, 0, unusable(0)), orderAt(2, HOUR)];
  assert.equal(heldUntil(tries, HOUR + MINUTE), NOW + 2 * HOUR);
  assert.equal(heldUntil(tries, 2 * HOUR), undefined);
  // The one that tries ended by a fault of its own.
  const status: Order['status'] = {
    state: 'invalid',
    reason: 'OrderInvalid',
    finalAt: at(NOW + HOUR),
  };
  assert.equal(heldUntil([orderAt(1, 0, unusable(0)), orderAt(2, HOUR, status)], HOUR), undefined);
});

test('an issued certificate ends the hold, in any order of events', () => {
  const orders = [orderAt(1, 0, unusable(0)), orderAt(2, MINUTE, issued(MINUTE))];
  assert.equal(heldUntil(orders, 2 * MINUTE), undefined);
  assert.equal(heldUntil(orders.toReversed(), 2 * MINUTE), undefined);
  const later = [orderAt(1, 0, issued(0)), orderAt(2, MINUTE, unusable(MINUTE))];
  assert.equal(heldUntil(later, 2 * MINUTE), NOW + HOUR + MINUTE);
});

test('the hold stays when the failed Order is deleted', () => {
  const holds = createSignerHolds();
  const failed = orderAt(1, 0, unusable(0));
  holds.observe(failed, undefined);
  holds.observe(undefined, failed);
  assert.equal(holds.of(SIGNER, NOW)?.until, NOW + HOUR);
});

test('an Order holds up no other signer, whatever its annotation has', () => {
  const failed = orderAt(1, 0, unusable(0));
  const signerRef = { kind: 'AcmeSigner', name: 'web' } as const;
  assert.equal(heldUntil([{ ...failed, spec: { ...failed.spec, signerRef } }], 0), undefined);
});

test('an Order whose annotation changes counts for its new version alone', () => {
  const holds = createSignerHolds();
  holds.observe(orderAt(1, 0, unusable(0)), undefined);
  const probe = orderAt(2, HOUR);
  const annotations = { [SIGNER_VERSION_ANNOTATION]: 'another' };
  const changed = { ...probe, metadata: { ...probe.metadata, annotations } };
  holds.observe(probe, undefined);
  assert.equal(holds.of(SIGNER, NOW + HOUR)?.until, NOW + 2 * HOUR);
  holds.observe(changed, probe);
  assert.equal(holds.of(SIGNER, NOW + HOUR), undefined);
  holds.observe(probe, changed);
  assert.equal(holds.of(SIGNER, NOW + HOUR)?.until, NOW + 2 * HOUR);
});
