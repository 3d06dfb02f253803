// SPDX-License-Identifier: Apache-2.0
/**
 * However far watches lag behind, and whoever has a request meanwhile: each is written once, and
 * who has signed it does not sign it again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { createExpiries } from '#requests/issuing/expiries.ts';
import { createActor } from '#requests/signer/act.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { resource } from '#kube/resource/resource.ts';
import { csrFairnessKey, csrRetainedFields } from '#requests/loop/csr-fairness.ts';
import { watchSigners } from '#component/signers/signers.ts';
import { localCaOf } from '../../support/requests/local-ca.ts';
import { createRequestController } from '#requests/loop/request-controller.ts';
import { made } from '../../ca/policy/request.ts';
import { NOW } from '../../support/pki/chain.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import {
  laggingRequests,
  type LaggingClient,
  type LaggingRequests,
} from '../../support/kube/lagging-watch.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload, workloadProfile } from '../../support/signers/workload-profile.ts';

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});
const template: CertificateSigningRequest = {
  ...made({}).csr,
  status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] },
};

interface Replica {
  readonly client: LaggingClient;
  /** UIDs of what it signed. */
  readonly signed: () => readonly string[];
  readonly stop: () => Promise<void>;
}

interface World {
  readonly api: LaggingRequests;
  readonly time: FakeTime;
  readonly replicas: readonly [Replica, Replica];
  /** Which replica has the requests now. */
  readonly turnTo: (owner: number) => void;
}

function world(): World {
  const api = laggingRequests();
  const time = fakeTime(NOW);
  const listeners: (() => void)[] = [];
  let owner = 0;
  const start = (index: number): Replica => {
    const client = api.client(workload());
    const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));
    const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
    const component = recordedComponent({
      clock: time.clock,
      delay: time.delay,
      random,
      client: client,
      queue: createDelayingQueue(
        createQueue(time.clock, counts, random),
        time.clock,
        time.startTimer,
      ),
      limiter: createRateLimiter({
        firstMs: 5,
        maxMs: 30_000,
        random: (size) => new Uint8Array(size),
      }),
      concurrency: createConcurrencyLimiter({
        clock: time.clock,
        startTimer: time.startTimer,
        random: (size) => new Uint8Array(size),
      }),
      shard: { owns: () => owner === index, onChange: (listener) => void listeners.push(listener) },
    });
    const actor = createActor({
      component,
      resource: REQUESTS,
      profileOf: () => workloadProfile(),
      signers: { serving: () => workload() },
      cas: { issuing: () => localCaOf(component, openIntermediate()) },
      expiries: createExpiries(),
    });
    const controller = createRequestController<CertificateSigningRequest, ClusterSigner>({
      component,
      signers: watchSigners(component),
      kind: 'CertificateSigningRequest',
      resource: REQUESTS,
      workers: 2,
      serves: () => true,
      isPending: (csr) => !isFinished(csr),
      handle: actor.handle,
      onGone: actor.forget,
      regarding: ({ apiVersion, kind, metadata: { name } }) => ({
        regarding: { apiVersion, kind, name },
      }),
      fairnessKeyOf: csrFairnessKey,
      retainedFields: csrRetainedFields,
      permissions: () => [],
    });
    const abort = new AbortController();
    const running = controller.run(abort.signal);
    return {
      client,
      signed: () =>
        component.log.lines.flatMap(({ message, fields }) =>
          message === 'signed' ? [String(fields['uid'])] : [],
        ),
      stop: async () => {
        abort.abort(new Error('stopped'));
        await time.advance(0);
        await running;
      },
    };
  };
  const turnTo = (next: number): void => {
    owner = next;
    for (const listener of listeners) listener();
  };
  return { api, time, replicas: [start(0), start(1)], turnTo };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      to: fc.nat(1),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const), of: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const), to: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(2_000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function play({ api, time, replicas, turnTo }: World, steps: readonly Step[]): Promise<void> {
  await time.advance(0);
  for (const each of steps) {
    if (each.kind === 'create') {
      const name = `csr-${api.stored.size}`;
      api.create({ ...template, metadata: { ...template.metadata, name, uid: `${name}-uid` } });
    } else if (each.kind === 'deliver') replicas[each.to]?.client.deliver(each.count);
    else if (each.kind === 'lose') lose(replicas[each.of]);
    else if (each.kind === 'turn') turnTo(each.to);
    await time.advance(each.kind === 'pass' ? each.ms : 0);
  }
  // In the end the watches catch up, and retries have their turn.
  for (const { client } of replicas) client.deliver(Infinity);
  await time.advance(4_000);
  for (const { client } of replicas) client.deliver(Infinity);
  await time.advance(4_000);
}

function lose(replica: Replica | undefined): void {
  if (replica !== undefined) replica.client.loseAnswer = true;
}

test('each request is written once and signed once by a replica, however stale a cache', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const there = world();
      try {
        await play(there, steps);
        const names = [...there.api.stored.keys()];
        assert.deepEqual([...there.api.writes].sort(), names.sort());
        for (const { signed } of there.replicas) {
          assert.equal(new Set(signed()).size, signed().length, 'signed twice');
        }
      } finally {
        await Promise.all(there.replicas.map(({ stop }) => stop()));
      }
    }),
    { numRuns: 12 },
  );
});

test('a replica that takes over once or twice with a stale cache signs once', async () => {
  const there = world();
  await play(there, [
    { kind: 'create' },
    { kind: 'deliver', to: 0, count: 1 },
    { kind: 'deliver', to: 1, count: 1 },
    { kind: 'turn', to: 1 },
    { kind: 'pass', ms: 8 },
    { kind: 'turn', to: 1 },
  ]);
  await Promise.all(there.replicas.map(({ stop }) => stop()));
  assert.equal(there.api.writes.length, 1);
  for (const { signed } of there.replicas) assert.ok(signed().length <= 1, 'signed twice');
});

test('a request that stays in its shard is signed once in total', async () => {
  const there = world();
  await play(there, [
    ...Array.from({ length: 5 }, () => ({ kind: 'create' }) as const),
    { kind: 'deliver', to: 0, count: 2 },
    { kind: 'deliver', to: 1, count: 5 },
    { kind: 'lose', of: 0 },
    { kind: 'deliver', to: 0, count: 3 },
    { kind: 'pass', ms: 1_000 },
  ]);
  assert.deepEqual(
    there.replicas.map(({ signed }) => signed().length),
    [5, 0],
  );
  assert.equal(there.api.writes.length, 5);
  await Promise.all(there.replicas.map(({ stop }) => stop()));
});
