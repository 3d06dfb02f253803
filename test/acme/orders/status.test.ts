// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldChallenge, saveChallenge } from '#acme/acme/challenges/challenge-state.ts';
import { heldOrder, saveOrder } from '#acme/acme/orders/order-state.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { NEW_CHALLENGE } from '#acme/orders/index.ts';
import { changed, timeOf, timeText, toWrite } from '#acme/orders/status.ts';
import {
  CHALLENGE_STATUS,
  type Challenge,
  type ChallengeObjectStatus,
} from '#api/acme/challenge.ts';
import { ORDER_STATUS, type Order, type OrderObjectStatus } from '#api/acme/order.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const at = Date.parse('2026-11-22T10:00:00Z');
const offered = [
  { type: 'dns-01', url: 'https://ca/c/1', token: 'tok' },
  { type: 'dns-persist-01', url: 'https://ca/c/2' },
];

const order: OrderObjectStatus = {
  url: 'https://ca/o/1',
  state: 'valid',
  replacesRefused: true,
  authorizations: [
    { url: 'https://ca/a/1', name: 'example.com', wildcard: true, wasValid: false, offered },
  ],
  certificate: 'PEM',
  finalAt: timeText(at),
  reason: 'RateLimited',
  message: 'later',
  failures: 2,
  nextAttemptAt: timeText(at + 1000),
};

const challenge: ChallengeObjectStatus = {
  state: 'pending',
  processing: true,
  presented: true,
  presentedAt: timeText(at),
  finalAt: timeText(at),
  reason: 'NotPropagated',
  message: 'not there',
  failures: 1,
  nextAttemptAt: timeText(at + 10_000),
};

/** Returns the status without the precision of its times. */
function inTimes(status: object): object {
  return Object.fromEntries(
    Object.entries(status).map(([name, value]: [string, unknown]) =>
      name.endsWith('At') ? [name, timeOf(value as string)] : [name, value],
    ),
  );
}

/** Writes the status that a process has of an object with another status. */
async function written(
  held: OrderObjectStatus,
  before: OrderObjectStatus,
): Promise<OrderObjectStatus> {
  const metadata = { namespace: 'n', name: 'o', uid: 'u', creationTimestamp: timeText(at) };
  const object = { kind: 'Order', metadata, spec: {}, status: before } as unknown as Order;
  const kept = heldOrder(beginTerm(at, 1), object);
  kept.status = held;
  const { status } = await saveOrder(context(), object, kept);
  return status;
}

async function writtenChallenge(
  change: (status: ChallengeObjectStatus) => ChallengeObjectStatus,
  before: ChallengeObjectStatus,
): Promise<ChallengeObjectStatus> {
  const metadata = { namespace: 'n', name: 'c', uid: 'c', creationTimestamp: timeText(at) };
  const spec = { orderRef: { uid: 'u' }, authorizationURL: 'https://ca/a/1' };
  const object = { kind: 'Challenge', metadata, spec, status: before } as unknown as Challenge;
  const { status: held } = heldChallenge(beginTerm(at, 1), object);
  const { status } = await saveChallenge(context(), object, change(held));
  return status;
}

/** An API server that stores what is written. */
function context() {
  const component = recordedComponent({ name: 'acme' });
  component.client.answer(({ body }) => body);
  const cache = { applyWrite: () => undefined } as never;
  return { component, orders: cache, challenges: cache };
}

test('an Order’s status is written whole and reads back the same', async () => {
  const status = await written(order, {});
  assert.deepEqual(ORDER_STATUS.parse(status), status);
  assert.deepEqual(inTimes(status), inTimes(order));
  assert.deepEqual(await written({}, {}), {});
});

test('a Challenge’s status is written whole and reads back the same', async () => {
  const status = await writtenChallenge(() => challenge, {});
  assert.deepEqual(CHALLENGE_STATUS.parse(status), status);
  assert.deepEqual(inTimes(status), inTimes(challenge));
  const reason = 'SignerNotReady';
  const parked = await writtenChallenge((held) => changed(held, { reason }), {});
  assert.deepEqual(parked, { ...NEW_CHALLENGE, reason });
});

test('what another writes into a status stays', async () => {
  const renewal = { renewAt: '2026-12-22T10:00:00Z' };
  const revocation = { state: 'revoked' as const };
  const earlier = { renewal: { renewAt: '2026-12-01T10:00:00Z' } };
  const both = await written({ ...order, ...earlier }, { renewal, revocation });
  assert.deepEqual([both.renewal, both.revocation], [renewal, revocation]);
  assert.equal((await written({ ...order, ...earlier }, {})).renewal, undefined);
  const solver = { presented: true };
  const stale = { solver: { presented: false } };
  const of = await writtenChallenge((held) => ({ ...held, ...stale, processing: true }), {
    solver,
  });
  assert.deepEqual([of.processing, of.solver], [true, solver]);
});

test('a written status never has an earlier time than in memory, or too long a message', () => {
  const status = toWrite({
    ...order,
    nextAttemptAt: timeText(at + 1),
    message: 'ü'.repeat(5000),
  });
  assert.equal(status.nextAttemptAt, '2026-11-22T10:00:01Z');
  assert.ok(ORDER_STATUS.safeParse(status).success);
});
