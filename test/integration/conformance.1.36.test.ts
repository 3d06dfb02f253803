// SPDX-License-Identifier: Apache-2.0
/**
 * The kit on Kubernetes 1.36, which has PodCertificateRequests and ClusterTrustBundles in v1beta1
 * only.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NAMESPACE, RUNS, conformanceOf } from '../support/conformance/cluster-signers.ts';
import { BUNDLE } from '../support/cluster/countersign.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createTeam } from '../support/cluster/pods.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ program: [process.execPath, BUNDLE] });
  await createTeam(fixture.cluster, NAMESPACE, ['web']);
});
after(() => fixture.stop());

const OURS = RUNS.filter(({ of, kind }) => of === 'countersign' && kind !== 'certificaterequest');

/** Skipped in any version: the signer is not Kubernetes' own, and its leaves name no Services. */
const OF_THE_SIGNER = ['PCR-26', 'PCR-81', 'PCR-82', 'PCR-83', 'PCR-84', 'PCR-85'];
/**
 * What there is nothing to judge of: v1 has not these kinds here, and the reasons of any version.
 */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  csr: ['CSR-65', 'CSR-66'],
  pcr: [...OF_THE_SIGNER, 'PCR-64'].sort(),
  ctb: ['CTB-30'],
};

describe('each case passes, or says why it cannot be judged', { concurrency: true }, () => {
  for (const run of OURS) {
    test(run.kind, async () => {
      const { results, left } = await conformanceOf(fixture.cluster, run);
      const failed = results.filter(({ outcome }) => outcome === 'fail');
      assert.deepEqual(failed, []);
      const skipped = results.filter(({ outcome }) => outcome === 'skip');
      assert.deepEqual(
        skipped.map(({ id }) => id),
        SKIPPED[run.kind],
        JSON.stringify(skipped, undefined, 2),
      );
      for (const { id, evidence } of skipped.filter((each) => !OF_THE_SIGNER.includes(each.id))) {
        if (run.kind !== 'csr') assert.match(evidence, /in v1beta1 only/, id);
      }
      assert.deepEqual(left, []);
    });
  }
});
