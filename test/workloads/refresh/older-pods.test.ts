// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import { formatTime } from '#api/object/time.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import { holdsOlder, isExhausted, selectingBudgets } from '#workloads/refresh/older-pods.ts';
import { leafAt, podOf, START } from './world.ts';

const MINUTE = 60_000;
const leaf = leafAt('new', START + 60 * MINUTE);
const at = (minute: number): number => START + minute * MINUTE;

/** Accepted at one time, its container started at another. */
function pod(accepted: number, started: number | undefined): Pod {
  const base = podOf('web', accepted);
  const running = started === undefined ? {} : { running: { startedAt: formatTime(started) } };
  return { ...base, status: { ...base.status, containerStatuses: [{ state: running }] } };
}

test('a pod that started before the certificate was issued has an older one', () => {
  assert.ok(holdsOlder(pod(at(0), at(1)), leaf));
});

test('a pod that started after the certificate was written has it', () => {
  assert.ok(!holdsOlder(pod(at(62), at(63)), leaf));
});

test('a container restarted long after has reread it; an init container has not', () => {
  assert.ok(
    holdsOlder(pod(at(0), at(62)), leaf),
    'the kubelet may not have rewritten the file yet',
  );
  assert.ok(!holdsOlder(pod(at(0), at(70)), leaf));
  assert.ok(holdsOlder(pod(at(0), at(70)), leaf, { untilPodEnds: true }));
});

for (const [clock, skew] of [
  ['right', 0],
  ['50 s behind', -50_000],
  ['50 s ahead', 50_000],
] as const) {
  test(`with a node's clock ${clock}, only a pod created before the write has an older one`, () => {
    // Issued at minute 60, written 2 s later by the API server's clock.
    const stored = { ...leaf, storedAt: at(60) + 2_000 };
    const createdAfter = (seconds: number): Pod => {
      const created = at(60) + seconds * 1000;
      const onNode = pod(created + 1000 + skew, created + 3000 + skew);
      return { ...onNode, metadata: podOf('web', created).metadata };
    };
    for (const seconds of [-3600, -60, -1]) {
      assert.ok(holdsOlder(createdAfter(seconds), stored), `created ${seconds} s after`);
    }
    for (const seconds of [5, 30, 59, 61, 3600]) {
      assert.ok(!holdsOlder(createdAfter(seconds), stored), `created ${seconds} s after`);
    }
  });
}

test('where the time of the write is not known, a minute is allowed for it', () => {
  assert.ok(holdsOlder(pod(at(60) + 59_000, at(61)), leaf));
  assert.ok(!holdsOlder(pod(at(61), at(61)), leaf));
});

test('a pod that waited for the first certificate of its Secret has it', () => {
  const first = { ...leaf, isFirst: true };
  assert.ok(!holdsOlder(pod(at(0), at(61)), first));
  assert.ok(!holdsOlder(pod(at(0), undefined), first));
  assert.ok(holdsOlder(pod(at(0), at(1)), first), 'its Secret had been written by somebody else');
});

test('a pod that no kubelet has, that has ended or is being deleted holds nothing', () => {
  const { metadata, status, ...rest } = pod(at(0), at(1));
  assert.ok(!holdsOlder({ ...rest, metadata, status: { phase: 'Pending' } }, leaf));
  assert.ok(!holdsOlder({ ...rest, metadata, status: { ...status, phase: 'Succeeded' } }, leaf));
  const deleted = { ...metadata, deletionTimestamp: formatTime(at(1)) };
  assert.ok(!holdsOlder({ ...rest, metadata: deleted, ...(status && { status }) }, leaf));
});

test('a credential of its own concerns only the pod that it belongs to', () => {
  const own = { ...leaf, pods: new Set(['web']) };
  assert.ok(holdsOlder(podOf('web', at(0)), own));
  assert.ok(!holdsOlder(podOf('other', at(0)), own));
});

function budget(
  disruptionsAllowed: number,
  more: Partial<DisruptionBudget['status']> = {},
): DisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { ...podOf('web', START).metadata, name: 'budget', generation: 2 },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed, observedGeneration: 2, ...more },
  };
}

test('a budget selects living pods by their labels', () => {
  const web = podOf('web', START, { app: 'web' });
  const succeeded: Pod = { ...web, status: { ...web.status, phase: 'Succeeded' } };
  const budgets = [budget(0)];
  assert.deepEqual(selectingBudgets([web], budgets), budgets);
  assert.deepEqual(selectingBudgets([podOf('db', START, { app: 'db' }), succeeded], budgets), []);
});

test('a budget is exhausted if it allows none, or its status is older than its spec', () => {
  assert.ok(isExhausted(budget(0)));
  assert.ok(!isExhausted(budget(1)));
  assert.ok(isExhausted(budget(1, { observedGeneration: 1 })));
});
