// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Component } from '#component/contract.ts';
import { RefreshReport } from '#workloads/pod-refresher/report.ts';
import { reducedWorkload } from '#workloads/pod-refresher/reduced.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { restartStateOf } from '#workloads/refresh/restart-state.ts';
import { sourceOf, START, workloadOf } from '../refresh/world.ts';

const web = workloadOf({ namespace: 'team-a', name: 'web', secrets: [], mode: 'secrets' });
const KEY = 'Deployment/team-a/web';

/** What is reported of verdicts, one pass after the other. */
function reported(...verdicts: readonly RestartVerdict[]): {
  readonly events: readonly string[];
  readonly faults: readonly string[];
  readonly states: readonly string[];
} {
  const events: string[] = [];
  let states: string[] = [];
  const series = {
    workloads: {
      reset: () => (states = []),
      set: ({ state }: { readonly state: string }) => states.push(state),
    },
  };
  const component = {
    metrics: { of: () => series },
    log: { warn: () => undefined },
    events: { record: ({ reason }: { readonly reason: string }) => events.push(reason) },
  } as unknown as Component;
  const report = new RefreshReport(component);
  const times = { debounceMs: 0, window: undefined, now: START };
  const state = restartStateOf(
    web,
    { kind: 'in', mode: 'secrets', way: 'rollout', window: undefined },
    sourceOf(new Map()),
    times,
  );
  for (const verdict of verdicts) {
    report.passed({ states: [state], invalid: [], unlabelled: [] }, new Map([[KEY, verdict]]));
  }
  return { events, faults: report.faults().map(({ message }) => message), states };
}

test('an overdue restart is a fault of the Lease with the name of its budget', () => {
  const early = { kind: 'blocked', budget: 'web-pdb', isOverdue: false } as const;
  assert.deepEqual(reported(early), {
    events: ['RefreshBlocked'],
    faults: [],
    states: ['blocked'],
  });
  const { events, faults, states } = reported(early, early, { ...early, isOverdue: true });
  assert.deepEqual(events, ['RefreshBlocked', 'RefreshBlocked']);
  assert.match(faults.join(), /team-a\/web: .*PodDisruptionBudget web-pdb .*will expire in use/);
  assert.deepEqual(states, ['overdue']);
});

test('a restart that waits past its deadline is a fault of the Lease with the reason', () => {
  const waiting = { kind: 'waiting', reason: 'Rate' } as const;
  assert.deepEqual(reported(waiting), { events: [], faults: [], states: ['waiting'] });
  const { events, faults, states } = reported({ ...waiting, isOverdue: true });
  assert.deepEqual(events, ['RefreshOverdue']);
  assert.match(faults.join(), /team-a\/web: .*will expire in use.*--concurrent/);
  assert.deepEqual(states, ['overdue']);
});

test('a restart that was taken back is a fault of the Lease, until it is not', () => {
  const reverted = { kind: 'reverted', message: 'field manager "argo"' } as const;
  assert.match(reported(reverted).faults.join(), /team-a\/web: .*field manager "argo"/);
  assert.deepEqual(reported(reverted, { kind: 'current' }).faults, []);
});

test('the cache keeps who last wrote the pod template, and no other managed fields', () => {
  const fieldsV1 = { 'f:spec': { 'f:template': {} } };
  const managedFields = [
    { manager: 'helm', time: '2026-01-01T00:00:00Z', fieldsV1 },
    { manager: 'argocd-controller', time: '2026-01-02T00:00:00Z', fieldsV1 },
    { manager: 'countersign-pod-refresher', time: '2026-01-03T00:00:00Z', fieldsV1 },
    { manager: 'hpa', time: '2026-01-04T00:00:00Z', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    { manager: 'kcm', time: '2026-01-05T00:00:00Z', fieldsV1: { 'f:status': {} } },
  ];
  const reduced = reducedWorkload({
    ...web,
    metadata: { ...web.metadata, managedFields },
  });
  assert.equal(reduced.templateWriter, 'argocd-controller');
  assert.equal(reduced.metadata.managedFields, undefined);
  assert.equal(reducedWorkload(reduced).templateWriter, 'argocd-controller');
});
