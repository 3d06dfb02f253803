// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Challenge } from '#api/acme/challenge.ts';
import type { Order } from '#api/acme/order.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { AbandonedLoop } from '#acme/acme/orders/abandoned-loop.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import type { OnChange } from '#kube/resource/store.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { random } from '#app/process.ts';
import { until } from '../../../cluster/until.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { at, NOW, order } from '../requests/build.ts';

const OK = { kind: 'ok', value: {} };
const DELETED = { deletionTimestamp: at(NOW) };
const SOON = 60_000;

/** A cache that tells what a test says. */
function cacheOf<T>() {
  const listeners: OnChange<T>[] = [];
  const all: T[] = [];
  return {
    all,
    list: () => all,
    by: () => all,
    onEvent: (listener: OnChange<T>) => void listeners.push(listener),
    tell: (now: T | undefined, before: T | undefined) => {
      for (const each of listeners) each('team-a/a', now, before);
    },
  };
}

function challenge(state?: string, more: object = {}): Challenge {
  return {
    apiVersion: '',
    kind: 'Challenge',
    metadata: { namespace: 'team-a', name: 'c', uid: 'c', ...more },
    spec: {
      authorizationURL: 'https://ca.example/authz/1',
      orderRef: { name: 'web-1', uid: 'u' },
      signerRef: { kind: 'AcmeClusterSigner', name: 'web' },
    },
    status: state === undefined ? {} : { state },
  } as unknown as Challenge;
}

/** The loop, and a server that gives these answers. */
function build(answers: readonly object[] = [OK]) {
  // Time passes as fast as something waits for it.
  let now = NOW;
  const clock = (): number => now;
  const none = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  const startTimer = (ms: number, action: () => void): (() => void) => {
    const timer = setImmediate(() => {
      now += ms;
      action();
    });
    return () => {
      clearImmediate(timer);
    };
  };
  const anotherLoop = () => ({
    queue: createDelayingQueue(createQueue(clock, none, random), clock, startTimer),
    limiter: createRateLimiter({ firstMs: 1, maxMs: 1, random }),
    concurrency: createConcurrencyLimiter({ clock, random, startTimer }),
  });
  const component = recordedComponent({ name: 'acme', clock, anotherLoop });
  const asked: (readonly [url: string, payload: unknown])[] = [];
  const left = [...answers];
  const server = {
    resources: { authorization: undefined },
    post: (_caller: unknown, { url, payload }: { url: string; payload: unknown }) => {
      asked.push([url, payload]);
      return Promise.resolve(left.shift() ?? OK);
    },
  };
  const sessions = createSessions();
  const session = { server, account: { account: 'https://ca.example/account' } };
  sessions.set('web', { kind: 'ready', session } as never);
  const [orders, challenges] = [cacheOf<Order>(), cacheOf<Challenge>()];
  const term = beginTerm(NOW, 60);
  const context = {
    component,
    sessions,
    orders,
    challenges,
    term: () => term,
    signers: { get: () => ({ kind: 'AcmeClusterSigner', metadata: { name: 'web' } }) },
  } as unknown as AcmeContext;
  const loop = new AbandonedLoop(context);
  const stop = new AbortController();
  const lines = (): readonly string[] =>
    component.log.lines
      .map(({ message }) => message)
      .filter((message) => message.startsWith('authorization'));
  return {
    orders,
    challenges,
    asked,
    loop,
    /** Runs until so many authorizations came to their end. */
    run: async (count: number) => {
      const running = loop.run(stop.signal);
      await until('they ended', SOON, () => lines().length >= count);
      stop.abort();
      await running;
      return lines();
    },
  };
}

const URL_1 = 'https://ca.example/authz/1';
const GIVEN_UP = [URL_1, { status: 'deactivated' }] as const;

test('the pending authorization of a Challenge that is deleted is given up, once', async () => {
  const { challenges, asked, run } = build();
  const before = challenge('pending');
  const deleted = challenge('pending', DELETED);
  challenges.tell(deleted, before);
  challenges.tell(undefined, deleted);
  assert.deepEqual(await run(1), ['authorization given up']);
  assert.deepEqual(asked, [GIVEN_UP]);
});

test('what is valid is kept, and what ended needs nothing', async () => {
  const { challenges, asked, run } = build();
  for (const state of ['valid', 'invalid', 'expired']) challenges.tell(undefined, challenge(state));
  const other = { ...challenge('pending') };
  challenges.tell(undefined, {
    ...other,
    spec: { ...other.spec, authorizationURL: 'https://ca.example/authz/2' },
  });
  await run(1);
  assert.deepEqual(
    asked.map(([url]) => url),
    ['https://ca.example/authz/2'],
  );
});

test('an Order that waited gives up what has no Challenge; an ended one nothing', async () => {
  const { orders, asked, run } = build();
  const authorizations = [1, 2].map((number) => ({
    url: `https://ca.example/authz/${number}`,
    name: 'a.example',
    wasValid: number === 2,
  }));
  orders.tell(undefined, order(1, { state: 'failed', authorizations }));
  orders.tell(undefined, order(2, { state: 'pending', authorizations }));
  await run(1);
  assert.deepEqual(asked, [GIVEN_UP]);
});

test('a failing server is retried for a limited time; a refusal is final', async () => {
  const lost = { kind: 'transport', cause: 'cut-off', detail: '', mayHaveArrived: true };
  const again = build([lost, OK]);
  again.challenges.tell(undefined, challenge('pending'));
  assert.deepEqual(await again.run(1), ['authorization given up']);
  assert.equal(again.asked.length, 2);
  const never = build(Array.from({ length: 20 }, () => lost));
  never.challenges.tell(undefined, challenge('pending'));
  assert.deepEqual(await never.run(1), ['authorization left to its end']);
  assert.equal(never.asked.length, 5);
  const refused = build([{ kind: 'problem', status: 400, type: 'malformed', detail: '' }]);
  refused.challenges.tell(undefined, challenge('pending'));
  assert.deepEqual(await refused.run(1), ['authorization given up']);
});

test('a new leader gives up what is being cleaned up', async () => {
  const { challenges, asked, loop, run } = build();
  challenges.all.push(challenge('pending', DELETED), challenge('valid', DELETED));
  loop.begin();
  await run(1);
  assert.deepEqual(asked, [GIVEN_UP]);
});
