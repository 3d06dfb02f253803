// SPDX-License-Identifier: Apache-2.0
/**
 * Expectations: `kubectl rollout status` (k8s.io/kubectl, pkg/polymorphichelpers/rollout_status.go)
 * and apps/v1.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workload } from '#api/workload/workload.ts';
import { rolloutOf, takesPodsAway } from '#workloads/refresh/rollout.ts';
import { workloadOf } from './world.ts';

type Kind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

function rollout(
  kind: Kind,
  status: Workload['status'],
  spec: Partial<Workload['spec']> = {},
): string {
  const workload = workloadOf({ namespace: 'team-a', name: 'web', kind, secrets: [], replicas: 2 });
  return rolloutOf({
    ...workload,
    metadata: { ...workload.metadata, generation: 3 },
    spec: { ...workload.spec, ...spec },
    status: { ...workload.status, observedGeneration: 3, ...status },
  }).kind;
}

test('a rollout that its controller has not seen yet is in progress', () => {
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet'] as const) {
    assert.equal(rollout(kind, {}), 'complete', kind);
    assert.equal(rollout(kind, { observedGeneration: 2 }), 'progressing', kind);
  }
});

test('a Deployment is in progress until all pods are new and available, none old', () => {
  assert.equal(rollout('Deployment', { updatedReplicas: 1 }), 'progressing');
  assert.equal(rollout('Deployment', { replicas: 3 }), 'progressing');
  assert.equal(rollout('Deployment', { availableReplicas: 1 }), 'progressing');
  const conditions = [
    { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' } as const,
  ];
  assert.equal(rollout('Deployment', { availableReplicas: 1, conditions }), 'failed');
});

test('a StatefulSet is in progress until all its pods are new and ready', () => {
  assert.equal(rollout('StatefulSet', { readyReplicas: 1 }), 'progressing');
  const half = { currentRevision: 'a', updateRevision: 'b', updatedReplicas: 1 };
  assert.equal(rollout('StatefulSet', half), 'progressing');
  assert.equal(rollout('StatefulSet', { ...half, updatedReplicas: 2 }), 'complete');
});

test('a DaemonSet is in progress until each node has a new pod that is available', () => {
  assert.equal(rollout('DaemonSet', { updatedNumberScheduled: 1 }), 'progressing');
  assert.equal(rollout('DaemonSet', { numberAvailable: 1 }), 'progressing');
});

test('what would not replace its pods is held: paused, OnDelete, a partition', () => {
  assert.equal(rollout('Deployment', {}, { paused: true }), 'held');
  assert.equal(rollout('DaemonSet', {}, { updateStrategy: { type: 'OnDelete' } }), 'held');
  const partition = { updateStrategy: { rollingUpdate: { partition: 1 } } };
  assert.equal(rollout('StatefulSet', {}, partition), 'held');
});

const budgets: readonly (readonly [
  says: string,
  kind: Kind,
  spec: Partial<Workload['spec']>,
  takes: boolean,
])[] = [
  ['Deployment by default, of two pods', 'Deployment', { replicas: 2 }, false],
  ['Deployment by default, of four pods', 'Deployment', { replicas: 4 }, true],
  [
    'Deployment with maxUnavailable 0',
    'Deployment',
    { replicas: 9, strategy: { rollingUpdate: { maxUnavailable: 0 } } },
    false,
  ],
  [
    'Deployment with maxUnavailable 1',
    'Deployment',
    { strategy: { rollingUpdate: { maxUnavailable: 1 } } },
    true,
  ],
  [
    'Deployment where both come to 0',
    'Deployment',
    { replicas: 3, strategy: { rollingUpdate: { maxUnavailable: '10%', maxSurge: '0%' } } },
    true,
  ],
  ['Deployment that is recreated', 'Deployment', { strategy: { type: 'Recreate' } }, true],
  ['StatefulSet', 'StatefulSet', {}, true],
  ['DaemonSet by default', 'DaemonSet', {}, true],
  [
    'DaemonSet with a surge',
    'DaemonSet',
    { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    false,
  ],
];

for (const [says, kind, spec, takes] of budgets) {
  test(`${says}: its rollout ${takes ? 'takes pods away' : 'takes no pod away'}`, () => {
    const workload = workloadOf({ namespace: 'team-a', name: 'web', kind, secrets: [] });
    assert.equal(takesPodsAway({ ...workload, spec: { ...workload.spec, ...spec } }), takes);
  });
}
