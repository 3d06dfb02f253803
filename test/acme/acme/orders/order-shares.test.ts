// SPDX-License-Identifier: Apache-2.0
/** Shares of the CA's budgets end with their Order, whenever that is deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { OrderShares } from '#acme/acme/orders/order-shares.ts';
import { driveOrder } from '#acme/acme/orders/order-work.ts';
import { wantedShare } from '#acme/acme/orders/wanted-order.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { LETS_ENCRYPT } from '#acme/orders/index.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { requestDer } from '../../../support/pki/request-der.ts';
import { NOW, SIGNER, order } from '../requests/build.ts';

/** Limits apply to this CA: 50 certificates of a registered domain. */
const ACCOUNT = 'https://acme-v02.api.letsencrypt.org/acme/acct/1';
const SERVER = 'https://acme-v02.api.letsencrypt.org';
const { burst } = LETS_ENCRYPT.domain ?? assert.fail();
const REQUEST = Buffer.from(requestDer()).toString('base64');

/** Another Order of the domain: those with equal names have a limit of their own. */
const other = (attempt: number): Order =>
  order(attempt, {}, { request: REQUEST, identifiers: [dns(`n${attempt}.a.example`)] });
const dns = (value: string) => ({ type: 'dns', value }) as const;

type ServerOrder = Readonly<Record<string, unknown>>;
const READY: ServerOrder = { status: 'ready', authorizations: [], finalize: `${SERVER}/finalize` };
const PROCESSING: ServerOrder = { ...READY, status: 'processing' };
const ok = (value: ServerOrder): object => ({ kind: 'ok', value });
/** The CA may have issued the certificate nevertheless. */
const BROKEN = {
  kind: 'problem',
  status: 500,
  type: 'serverInternal',
  detail: '',
  subproblems: [],
};

/** A leader that works on one Order of `a.example`, and the last shares of that domain. */
function build(
  status: object = { url: `${SERVER}/order/1`, state: 'ready' },
  request = REQUEST,
  signer = SIGNER,
) {
  const component = recordedComponent({ name: 'acme' });
  let onRead = (): void => undefined;
  component.client.answer(({ body, method }) => {
    if (method !== 'GET') return body;
    onRead();
    return made;
  });
  const term = beginTerm(NOW, 2);
  const made = order(1, status, { request });
  let current: Order | undefined = made;
  const orders = {
    get: (key: string) => (current && keyOf(current.metadata) === key ? current : undefined),
    applyWrite: (written: Order) => {
      current = written;
    },
  };
  const answers: (object | (() => object))[] = [];
  const server = {
    resources: {},
    directory: () =>
      Promise.resolve({ kind: 'ok', value: { newOrder: SERVER, meta: { profiles: [] } } }),
    post: () => {
      const answer = answers.shift();
      return Promise.resolve(typeof answer === 'function' ? answer() : answer);
    },
  };
  const sessions = createSessions();
  sessions.set('web', {
    kind: 'ready',
    session: { server, account: { account: ACCOUNT } },
  } as never);
  const context = {
    component,
    sessions,
    orders,
    http01Grants: [],
    term: () => term,
    signers: { get: () => signer },
    challenges: { by: () => [] },
  } as unknown as AcmeContext;
  const shares = new OrderShares({
    term: () => term,
    now: () => NOW,
    exists: ({ metadata }) => current?.metadata.uid === metadata.uid,
    wake: () => undefined,
    grantAt: () => undefined,
  });
  return {
    term,
    answers,
    shares,
    status: () => current?.status,
    run: () => driveOrder(context, term, current ?? made, shares),
    /** While the Order is read again before its creation at the CA. */
    onRead: (run: () => void) => {
      onRead = run;
    },
    delete: () => {
      if (current !== undefined) {
        const gone = current;
        current = undefined;
        shares.forget(gone);
      }
    },
    /** How many new orders the account may make now. */
    newOrders: () => {
      for (let count = 0; ; count += 1) {
        term.budgets.add(wantedShare(other(count + 2), ACCOUNT, 'order'));
        if (term.budgets.next(NOW) === undefined) return count;
      }
    },
    /** How many certificates of the domain may be asked for now. */
    left: () => {
      for (let count = 0; ; count += 1) {
        term.budgets.add(wantedShare(other(count + 2), ACCOUNT, 'certificate'));
        if (term.budgets.next(NOW) === undefined) return count;
      }
    },
  };
}

test('a deleted Order that the CA was not asked to finalize returns its share', async () => {
  const world = build();
  const { term, shares } = world;
  const others = Array.from({ length: burst }, (_each, index) =>
    wantedShare(other(index + 100), ACCOUNT, 'certificate'),
  );
  for (const each of others) term.budgets.count(each, NOW);
  world.answers.push(ok(READY));
  await world.run();
  assert.equal(term.reserved.size, 0);
  // An Order before it failed: it is granted, and deleted before it goes on.
  for (const each of others) term.budgets.giveBack(each, NOW);
  shares.grant(term);
  assert.equal(term.reserved.size, 1);
  world.delete();
  assert.equal(term.reserved.size, 0);
  assert.equal(world.left(), burst);
});

test('the share of a certificate that the CA may issue counts after the deletion', async () => {
  for (const answer of [ok(PROCESSING), BROKEN]) {
    const world = build();
    world.answers.push(ok(READY), answer);
    await world.run();
    world.delete();
    assert.deepEqual([world.term.reserved.size, world.term.granted.size], [0, 0]);
    assert.equal(world.left(), burst - 1);
  }
});

test('an Order that is deleted while the CA is asked counts as the answer says', async () => {
  for (const [answer, left] of [
    [ok(READY), burst],
    [BROKEN, burst - 1],
    [ok(PROCESSING), burst - 1],
    [ok({ ...READY, status: 'invalid' }), burst],
  ] as const) {
    const world = build();
    world.answers.push(ok(READY), () => {
      world.delete();
      return answer;
    });
    await world.run();
    assert.deepEqual([world.term.reserved.size, world.term.granted.size], [0, 0]);
    assert.equal(world.left(), left);
  }
});

test('an Order that is deleted before its creation at the CA takes no share', async () => {
  const world = build({});
  const { term } = world;
  world.onRead(world.delete);
  await world.run();
  assert.equal(term.granted.size, 0);
  assert.equal(world.newOrders(), LETS_ENCRYPT.orders?.burst);
});

test('an Order whose request is not PKCS#10 takes no share', async () => {
  const world = build({}, 'AAAA');
  await world.run();
  assert.equal(world.newOrders(), LETS_ENCRYPT.orders?.burst);
});

test('a limit of equal names delays no Order of other names and no other call', async () => {
  const world = build({});
  const { term } = world;
  const week = 7 * 24 * 3_600_000;
  world.answers.push({ ...BROKEN, status: 429, type: 'rateLimited', retryAfterMs: week });
  await world.run();
  const { reason, nextAttemptAt = '' } = term.orders.get('order-1')?.status ?? {};
  assert.equal(reason, 'RateLimited');
  assert.ok(Date.parse(nextAttemptAt) >= NOW + week);
  assert.equal(term.gate.until(ACCOUNT, NOW), undefined);
  // The limited Order takes its turn again after its wait.
  assert.equal(term.granted.size, 0);
  term.budgets.add(wantedShare(other(2), ACCOUNT, 'order'));
  assert.equal(term.budgets.next(NOW), undefined);
  assert.equal(term.budgets.next(NOW + 1000)?.id, 'order-2 order');
});

test('an Order that another account created ends without a call, also while it waits', async () => {
  const url = `${SERVER}/order/1`;
  const nextAttemptAt = new Date(Date.now() + 3_600_000).toISOString();
  const world = build({
    url,
    accountURL: 'https://old.example/acct/1',
    state: 'pending',
    nextAttemptAt,
  });
  await world.run();
  const { state, reason, message } = world.term.orders.get('order-1')?.status ?? {};
  assert.deepEqual([state, reason], ['invalid', 'OrderGone']);
  assert.match(message ?? '', /old\.example/);
});

test('an Order records the account that created its order', async () => {
  const world = build({});
  const created = { ...READY, status: 'pending', url: `${SERVER}/order/1` };
  world.answers.push(ok(created));
  await world.run().catch(() => undefined);
  assert.equal(world.term.orders.get('order-1')?.status.accountURL, ACCOUNT);
});

test('an Order whose signer is being deleted makes no call and takes no share', async () => {
  const deletionTimestamp = '2026-11-21T07:00:00Z';
  const signer = { ...SIGNER, metadata: { ...SIGNER.metadata, deletionTimestamp } };
  const world = build({}, REQUEST, signer);
  world.answers.push(ok(READY));
  await world.run();
  assert.equal(world.answers.length, 1);
  assert.equal(world.newOrders(), LETS_ENCRYPT.orders?.burst);
  assert.match(JSON.stringify(world.status()), /SignerNotFound.*web is being deleted/);
});
