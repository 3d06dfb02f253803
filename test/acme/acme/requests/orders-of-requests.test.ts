// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrdersOfRequests } from '#acme/acme/requests/orders-of-requests.ts';
import { order } from './build.ts';

/** More names than an index remembers. */
const MANY = 20_001;

test('the next number is above those of all Orders, whatever other requests had', () => {
  const orders = createOrdersOfRequests();
  const web = order(3);
  orders.observe(web, undefined);
  for (let index = 0; index < MANY; index += 1) {
    const name = `x${index}`;
    const requestRef = { ...web.spec.requestRef, name, uid: `request ${name}` };
    const metadata = { ...web.metadata, name: `${name}-1`, uid: name };
    const other = { ...web, metadata, spec: { ...web.spec, requestRef, attempt: 1 } };
    orders.observe(other, undefined);
    orders.observe(undefined, other);
  }
  assert.equal(orders.nextAttempt('team-a', 'web'), 4);
});

test('the next number is above that of a deleted Order, and of no other request', () => {
  const orders = createOrdersOfRequests();
  assert.equal(orders.nextAttempt('team-a', 'web'), 1);
  for (const attempt of [1, 2]) orders.observe(order(attempt), undefined);
  orders.observe(undefined, order(2));
  assert.equal(orders.nextAttempt('team-a', 'web'), 3);
  assert.equal(orders.nextAttempt('team-b', 'web'), 1);
  assert.equal(orders.nextAttempt('team-a', 'other'), 1);
});

test('requests of both kinds with one name share the numbers of their Orders', () => {
  const orders = createOrdersOfRequests();
  const requestRef = { kind: 'CertificateSigningRequest', name: 'web', uid: 'request-2' } as const;
  orders.observe(order(1, {}, { requestRef }), undefined);
  assert.equal(orders.nextAttempt('team-a', 'web'), 2);
});
