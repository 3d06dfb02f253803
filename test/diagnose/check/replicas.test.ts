// SPDX-License-Identifier: Apache-2.0
/**
 * Why replicas are away, as far as the status of a Deployment and of its pods says so (apps/v1,
 * core/v1).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '#diagnose/check/facts.ts';
import { readDeployments } from '#diagnose/check/reading/read-deployments.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { findingsOf } from './well.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/countersign-system/deployments';
const PODS = '/api/v1/namespaces/countersign-system/pods';

const labels = (component: string): object => ({
  'app.kubernetes.io/name': 'countersign',
  'app.kubernetes.io/component': component,
});

const deployment = (available: number, conditions: readonly object[] = []): object => ({
  metadata: { name: 'countersign-signer', labels: labels('signer') },
  spec: { replicas: 2, template: { spec: { containers: [{ image: 'x:1', args: ['signer'] }] } } },
  status: { availableReplicas: available, conditions },
});

const pod = (status: object, more: object = {}, component = 'signer'): object => ({
  metadata: { name: 'countersign-signer-1', labels: labels(component), ...more },
  status,
});

/** @param pods - undefined: the user may not list them */
async function read(
  found: object,
  pods: readonly object[] | undefined,
): Promise<{ readonly deployment: Deployment; readonly asked: readonly string[] }> {
  const client = recordedClient();
  client.answer(({ path }) => {
    const items = path === DEPLOYMENTS ? [found] : path === PODS ? pods : undefined;
    if (items === undefined) throw new KubeError({ status: 403, what: path });
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
  });
  const seen = await readDeployments(client, 'countersign-system', () => undefined);
  assert.ok('value' in seen);
  const [one] = seen.value;
  assert.ok(one !== undefined);
  return { deployment: one, asked: client.requests.map(({ path }) => path) };
}

const QUOTA = 'pods "countersign-signer-5d" is forbidden: exceeded quota: none, requested: pods=1';
const REFUSED = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: QUOTA };
const LATE = {
  type: 'Progressing',
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
  message: 'ReplicaSet "countersign-signer-5d" has timed out progressing.',
};
const GOING = {
  type: 'Progressing',
  status: 'True',
  reason: 'ReplicaSetUpdated',
  message: 'is on',
};
const UNREADY = {
  type: 'Ready',
  status: 'False',
  reason: 'ContainersNotReady',
  message: 'containers with unready status: [signer]',
};
const PENDING = { phase: 'Pending', conditions: [UNREADY] };
const unready = pod({ phase: 'Running', conditions: [UNREADY] });
const waits = (reason: string, message: string, lastState: object = {}): object =>
  pod({ ...PENDING, containerStatuses: [{ state: { waiting: { reason, message } }, lastState }] });
const unscheduled = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message: '0/2 nodes are available',
};

const CASES: readonly (readonly [law: string, of: object, pods: object[], why: string])[] = [
  ['pods that are refused', deployment(0, [GOING, REFUSED]), [unready], QUOTA],
  [
    'an image that is not there',
    deployment(0, [LATE]),
    [waits('ImagePullBackOff', 'Back-off pulling image "x:1"')],
    'pod countersign-signer-1: ImagePullBackOff: Back-off pulling image "x:1"',
  ],
  [
    'a container that ends each time, with how it ended',
    deployment(1, [GOING]),
    [
      waits('CrashLoopBackOff', 'back-off 5m0s', {
        terminated: { reason: 'OOMKilled', exitCode: 137 },
      }),
    ],
    'pod countersign-signer-1: CrashLoopBackOff: back-off 5m0s after OOMKilled with exit code 137',
  ],
  [
    'an init container',
    deployment(1),
    [
      pod({
        ...PENDING,
        initContainerStatuses: [{ state: { waiting: { reason: 'ErrImageNeverPull' } } }],
        containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
      }),
    ],
    'pod countersign-signer-1: ErrImageNeverPull',
  ],
  [
    'a container that is being made, which is no fault of its own',
    deployment(1),
    [waits('ContainerCreating', '')],
    'pod countersign-signer-1: ContainersNotReady: containers with unready status: [signer]',
  ],
  [
    'no node for a pod',
    deployment(0),
    [pod({ phase: 'Pending', conditions: [unscheduled] })],
    'pod countersign-signer-1: Unschedulable: 0/2 nodes are available',
  ],
  [
    'a pod that runs and is not ready',
    deployment(1, [LATE]),
    [unready],
    'pod countersign-signer-1: ContainersNotReady: containers with unready status: [signer]',
  ],
  [
    'a deadline, where no pod says more',
    deployment(1, [LATE]),
    [
      pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      pod({ phase: 'Failed', conditions: [UNREADY] }),
      pod({ conditions: [UNREADY] }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      pod({ conditions: [UNREADY] }, {}, 'approver'),
    ],
    LATE.message,
  ],
];

for (const [law, of, pods, why] of CASES)
  test(`the cause of replicas that are away: ${law}`, async () => {
    assert.equal((await read(of, pods)).deployment.why, why);
  });

const runs = { state: { running: {} } };
const ended = { ...runs, lastState: { terminated: { reason: 'Error', exitCode: 1 } } };
const runningPod = (container: object): object =>
  pod({ phase: 'Running', conditions: [UNREADY], containerStatuses: [container] });

for (const [law, pods, only] of [
  ['run without a restart', [runningPod(runs), runningPod(runs)], true],
  ['have ended before', [runningPod(ended)], undefined],
  ['run beside one that waits', [runningPod(runs), waits('CrashLoopBackOff', '')], undefined],
  ['are unknown', [unready], undefined],
] as const)
  test(`unready pods whose containers ${law} ${only ? '' : 'do not '}lack only readiness`, async () => {
    const { deployment: found } = await read(deployment(0), pods);
    assert.equal(found.lacksOnlyReadiness, only);
  });

test('the fault of a container stands before a pod that lacks only readiness', async () => {
  const pods = [runningPod(runs), waits('CrashLoopBackOff', 'back-off')];
  const { deployment: found } = await read(deployment(0), pods);
  assert.match(found.why ?? '', /CrashLoopBackOff: back-off/);
});

test('the cause stands behind the number of replicas', async () => {
  const { deployment: found } = await read(deployment(0, [REFUSED]), []);
  const [finding] = findingsOf('replicas-available', {
    installed: { deployments: { value: [found] } },
  });
  assert.equal(finding?.why, `0 of 2 replicas are available: ${QUOTA}`);
});

test('who may not list pods is told what the Deployment says', async () => {
  assert.equal((await read(deployment(1, [LATE]), undefined)).deployment.why, LATE.message);
});

test('reads pods only where replicas are missing; a full Deployment has no cause', async () => {
  const { deployment: found, asked } = await read(deployment(2, [LATE]), []);
  assert.deepEqual(asked, [DEPLOYMENTS]);
  assert.equal(found.why, undefined);
  assert.deepEqual((await read(deployment(1), [])).asked, [DEPLOYMENTS, PODS]);
});

test('a quota that keeps pods away is named, with the command that edits it', async () => {
  const { deployment: short } = await read(deployment(0, [REFUSED]), []);
  const [found] = findingsOf('replicas-available', {
    installed: { deployments: { value: [short] } },
  });
  assert.equal(found?.severity, 'error');
  assert.match(found.why, /exceeded quota: none/);
  assert.equal(
    found.remediation,
    'let the ResourceQuota allow its pods: kubectl -n countersign-system edit resourcequota none',
  );
});
