// SPDX-License-Identifier: Apache-2.0
/** What the approver sends back with its answer. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createApprover } from '#requests/approver/index.ts';
import { until } from '../../cluster/until.ts';
import { made } from '../../ca/policy/request.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi, type Thing } from '../../support/kube/memory-api.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { NOW } from '../../support/pki/chain.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { componentOn } from '../loop/controlled.ts';

const SIGNER = '/apis/countersign.dev/v1alpha1/clustersigners/workload';
const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests/jane-1';

/** A request that a rule allows, with all that others may have written into its metadata. */
function asked(): Thing {
  const { csr } = made({ expirationSeconds: 3600, extra: { 'example.com/a': ['b', ''] } });
  return {
    ...csr,
    metadata: {
      ...csr.metadata,
      labels: { team: 'a' },
      annotations: { 'example.com/note': 'ä' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Node', name: 'one', uid: 'n', blockOwnerDeletion: false },
      ],
      finalizers: ['example.com/wait'],
    },
    spec: { ...csr.spec, signerName: workloadSpec()['signerName'] as string },
    status: {},
  };
}

async function approve(t: TestContext, api: MemoryApi): Promise<Thing> {
  const time = fakeTime(NOW);
  const stop = new AbortController();
  api.put(SIGNER, clusterSigner(workloadSpec()));
  const approver = createApprover(componentOn({ client: api.client, time }));
  const running = approver.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error('stopped'));
    await time.advance(0);
    await running;
  });
  await until('it is approved', PATIENCE_MS, async () => {
    await time.advance(1_000);
    return api.writes.some(({ path }) => path.startsWith(CSR));
  });
  const approved = api.get(CSR);
  assert.ok(approved !== undefined);
  return approved;
}

test('an approval keeps the metadata that others wrote', async (t) => {
  const api = memoryApi();
  const before = api.put(CSR, asked());
  const after = await approve(t, api);
  const { resourceVersion } = after.metadata;
  assert.deepEqual(after.metadata, { ...before.metadata, resourceVersion });
  const { conditions = [] } = after.status as { conditions?: readonly { type: string }[] };
  assert.deepEqual(
    conditions.map(({ type }) => type),
    ['Approved'],
  );
});
