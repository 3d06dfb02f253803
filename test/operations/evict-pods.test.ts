// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AffectedPod } from '#operations/pods/affected-pods.ts';
import {
  nameOf,
  evictPods,
  type EvictPodsInit,
  type EvictionSummary,
} from '#operations/pods/evict-pods.ts';
import type { Eviction } from '#kube/client/eviction.ts';
import { fakeTime } from '../support/kube/fake-time.ts';

const BLOCKED: Eviction = {
  kind: 'blocked',
  message: 'budget web: 1 of 1 needed',
  retryAfter: 10_000,
};
const EVICTED: Eviction = { kind: 'evicted' };

function pod(name: string, remadeBy: string | undefined = 'ReplicaSet/web'): AffectedPod {
  return { namespace: 'team-a', name, uid: name, node: 'node-1', createdAt: '', remadeBy };
}

interface Stage {
  /** `seconds name` of each eviction that was asked for. */
  readonly asked: readonly string[];
  readonly progress: readonly string[];
  readonly stop: AbortController;
  readonly advance: (seconds: number) => Promise<void>;
  readonly done: Promise<EvictionSummary>;
}

function stage(
  pods: readonly AffectedPod[],
  answer: (name: string, time: number) => Eviction,
  more: Partial<EvictPodsInit> = {},
): Stage {
  const { clock, delay, advance } = fakeTime();
  const started = clock();
  const [asked, progress]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const done = evictPods(pods, {
    clock,
    delay,
    progress: (line) => progress.push(line),
    perMinute: 60,
    deadline: started + 60_000,
    dryRun: false,
    barePods: false,
    signal: stop.signal,
    evict: (each) => {
      const time = (clock() - started) / 1000;
      asked.push(`${time} ${each.name}`);
      return Promise.resolve(answer(each.name, time));
    },
    ...more,
  });
  return { asked, progress, stop, advance: (seconds) => advance(seconds * 1000), done };
}

const names = (pods: readonly AffectedPod[]): readonly string[] => pods.map(({ name }) => name);

test('pods are evicted one after the other, in order, at the given rate', async () => {
  const run = stage([pod('a'), pod('b'), pod('c')], () => EVICTED, { perMinute: 6 });
  await run.advance(60);
  assert.deepEqual(run.asked, ['0 a', '10 b', '20 c']);
  assert.deepEqual(names((await run.done).evicted), ['a', 'b', 'c']);
  assert.deepEqual(run.progress.at(-1), 'evicted: team-a/c (3 of 3)');
});

test('retries a pod with a disruption budget after Retry-After, delaying no other', async () => {
  const run = stage([pod('a'), pod('b')], (name, time) =>
    name === 'a' && time < 20 ? BLOCKED : EVICTED,
  );
  await run.advance(60);
  assert.deepEqual(run.asked, ['0 a', '1 b', '10 a', '20 a']);
  assert.deepEqual(run.progress, [
    'waiting: team-a/a: budget web: 1 of 1 needed',
    'evicted: team-a/b (1 of 2)',
    'evicted: team-a/a (2 of 2)',
  ]);
});

test('a pod that is blocked until the deadline remains, with the reason', async () => {
  const run = stage([pod('a'), pod('b')], (name) => (name === 'a' ? BLOCKED : EVICTED), {
    deadline: Date.UTC(2026, 0, 1) + 15_000,
  });
  await run.advance(15);
  const { left, evicted } = await run.done;
  assert.deepEqual(names(evicted), ['b']);
  assert.deepEqual(
    left.map((each) => [each.pod.name, each.why]),
    [['a', 'budget web: 1 of 1 needed']],
  );
  assert.deepEqual(run.asked, ['0 a', '1 b', '10 a']);
});

test('a refused eviction is not retried, and a pod that is gone counts as done', async () => {
  const run = stage([pod('a'), pod('b')], (name) =>
    name === 'a' ? { kind: 'refused', message: 'no right' } : { kind: 'gone' },
  );
  await run.advance(60);
  const { left, gone, evicted } = await run.done;
  assert.deepEqual(
    [names(left.map((each) => each.pod)), names(gone), names(evicted)],
    [['a'], ['b'], []],
  );
});

test('a bare pod is evicted with --bare-pods only', async () => {
  const bare = { ...pod('bare'), remadeBy: undefined };
  const left = stage([bare], () => EVICTED);
  assert.match((await left.done).left[0]?.why ?? '', /no controller would replace it/);
  assert.deepEqual(left.asked, []);
  assert.deepEqual(names((await stage([bare], () => EVICTED, { barePods: true }).done).evicted), [
    'bare',
  ]);
});

test('a dry run attempts each eviction once', async () => {
  const run = stage([pod('a'), pod('b')], () => BLOCKED, { dryRun: true });
  await run.advance(60);
  assert.deepEqual(run.asked, ['0 a', '1 b']);
  assert.equal((await run.done).left.length, 2);
});

test('an interrupt reports the pods that remain', async () => {
  const run = stage([pod('a'), pod('b'), pod('c')], () => EVICTED);
  await run.advance(1);
  run.stop.abort();
  const { evicted, left } = await run.done;
  assert.deepEqual(names(evicted), ['a', 'b']);
  assert.deepEqual(
    left.map((each) => `${nameOf(each.pod)}: ${each.why}`),
    ['team-a/c: not attempted before the timeout'],
  );
});
