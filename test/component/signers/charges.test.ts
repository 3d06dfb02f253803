// SPDX-License-Identifier: Apache-2.0
/** What the budget of a namespace is charged with, on clocks that stand still. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import type { Deadline } from '#base/ports.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { answer, ofNewNamespace, putOffOf } from '../../support/requests/asking-signers.ts';
import { ENDLESS_MS, startFakeThread } from '../../support/requests/fake-thread.ts';
import { workload } from '../../support/signers/workload-profile.ts';

/** Work of 5 ms, in each way that a deadline runs it. */
const STEPS: Readonly<Record<string, (deadline: Deadline, work: () => void) => void>> = {
  compile: (deadline, work) => {
    deadline.compile('spec.pods.allow', work);
  },
  evaluate: (deadline, work) => {
    deadline.evaluate('spec.pods.allow', work);
  },
  'evaluate many': (deadline, work) => {
    deadline.together('spec.pods', 1, () => {
      deadline.evaluate('spec.pods.allow', work);
    });
  },
};

for (const [what, step] of Object.entries(STEPS)) {
  test(`to ${what} is charged to the namespace, whose Signers wait when 100 ms are spent`, async (t) => {
    const thread = await startFakeThread(t);
    const signer = ofNewNamespace();
    const work = (of: ClusterSigner): Promise<void> =>
      answer((deadline) => {
        step(deadline, () => {
          thread.work(5);
        });
      }, of);
    const before = thread.used();
    const put = await putOffOf(async () => {
      while (thread.used() - before < 1_000) await work(signer);
    });
    // While it used 100 ms, it got another 10.
    const used = thread.used() - before;
    assert.ok(used >= 100 && used <= 115, `${used} ms`);
    assert.equal(put.reason, 'CelBudgetSpent');
    assert.match(put.message, /have used their 100 ms .* is spec\.pods\.allow of Signer team-/);
    await work(ofNewNamespace());
    for (let time = 0; time < 100; time += 1) await work(workload());
    thread.sleep(put.waitMs);
    await work(signer);
  });
}

test('work that was ended or failed is charged, too', async (t) => {
  const thread = await startFakeThread(t);
  const signer = ofNewNamespace();
  const before = thread.used();
  const run = (fails: boolean) => (deadline: Deadline) =>
    deadline.evaluate('here', () => {
      thread.work(fails ? 5 : ENDLESS_MS);
      throw new SignerError({ code: 'CEL_EVALUATION', disposition: 'wait', message: 'no' });
    });
  await assert.rejects(answer(run(false), signer), SignerError);
  await assert.rejects(async () => {
    while (thread.used() - before < 1_000) {
      await answer(run(true), signer).catch((error: unknown) => {
        if (error instanceof EvaluationDeferred) throw error;
      });
    }
  }, EvaluationDeferred);
  const used = thread.used() - before;
  assert.ok(used >= 100 && used <= 115, `${used} ms`);
});
