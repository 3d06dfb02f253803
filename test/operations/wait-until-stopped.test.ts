// SPDX-License-Identifier: Apache-2.0
/** The wait of `authority taint --restart`, while the API server is not always available. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { waitUntilStopped } from '#operations/pods/wait-until-stopped.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { MINUTE, NOW, print, state } from './signer-states.ts';

const WAITING = state({ authorities: { a: 'Active' }, served: { a: 60 } });
const STOPPED = state({ authorities: { b: 'Active', a: 'Retiring' }, served: { a: 60, b: 60 } });

/** Answers the reads of a wait of 30 minutes with these, and then with the last of them. */
async function wait(
  answers: readonly (number | SignerState)[],
): Promise<{ readonly found: SignerState; readonly progress: readonly string[] }> {
  let now = NOW;
  let reads = 0;
  const progress: string[] = [];
  const found = await waitUntilStopped({
    readState: () => {
      const answer = answers[reads] ?? answers.at(-1) ?? 0;
      reads += 1;
      if (typeof answer !== 'number') return Promise.resolve(answer);
      return Promise.reject(new KubeError({ status: answer, what: 'GET signer', cause: 'reset' }));
    },
    fingerprint: print('a'),
    clock: () => now,
    delay: (milliseconds) => {
      now += milliseconds;
      return Promise.resolve();
    },
    progress: (line) => {
      progress.push(line);
    },
    deadline: NOW + 30 * MINUTE,
    signal: new AbortController().signal,
  });
  return { found, progress };
}

for (const status of [0, 401, 410, 429, 500, 503]) {
  test(`a read that ends with ${status} does not end the wait`, async () => {
    const { found, progress } = await wait([WAITING, status, WAITING, STOPPED]);
    assert.equal(found, STOPPED);
    assert.match(progress[1] ?? '', /^waiting: GET signer: /);
  });
}

for (const status of [403, 404]) {
  test(`a read that ends with ${status} ends the wait`, async () => {
    await assert.rejects(wait([WAITING, status, STOPPED]), { status });
  });
}

test('an API server that stays away is the cause at the deadline', async () => {
  await assert.rejects(wait([WAITING, 503]), /no pod was evicted: GET signer: 503/);
});
