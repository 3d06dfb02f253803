// SPDX-License-Identifier: Apache-2.0
/** A pod that cannot run in this cluster shows nothing of the signer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitPod, runs, type RunningPod } from '#conformance/runner/pods.ts';
import type { Run } from '#conformance/runner/run.ts';
import { StepSkipped } from '#conformance/runner/steps.ts';

const QUIET_MS = 5_000;
const TIMEOUT_MS = 30_000;

/** A run whose pod is always in this state, under a clock that its delays move. */
function runWith(status: RunningPod['status']): Run {
  let now = 0;
  return {
    id: 'run',
    namespace: 'team-a',
    quietMs: QUIET_MS,
    clock: () => now,
    delay: (ms: number) => Promise.resolve(void (now += ms)),
    client: { request: () => Promise.resolve({ status }) },
  } as unknown as Run;
}

const waitingFor = (reason: string): RunningPod['status'] => ({
  phase: 'Pending',
  containerStatuses: [{ state: { waiting: { reason, message: 'registry.example.com: denied' } } }],
});

// pkg/kubelet/images/types.go
for (const reason of [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]) {
  test(`a pod whose image cannot be had is no fault of the signer: ${reason}`, async () => {
    await assert.rejects(
      runs(runWith(waitingFor(reason)), 'pod', TIMEOUT_MS),
      (error) => error instanceof StepSkipped && error.message.includes(reason),
    );
  });
}

test('a pod that waits for its volumes does not run in time', async () => {
  assert.equal(await runs(runWith(waitingFor('ContainerCreating')), 'pod', TIMEOUT_MS), false);
});

test('a request of a pod whose image cannot be had is still found', async () => {
  const run = runWith(waitingFor('ErrImagePull'));
  assert.equal(await awaitPod(run, 'pod', () => true, TIMEOUT_MS), true);
});
