// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApprover } from '#requests/approver/index.ts';
import { until } from '../../cluster/until.ts';
import { componentOn } from '../loop/controlled.ts';
import { bookmark, PATIENCE_MS, startStage } from '../../support/kube/reflector-fixture.ts';
import { clusterSigner, without, workloadSpec } from '../../support/signers/cluster-signer.ts';

test('the approver needs the verb approve for the signers with requests alone', async (t) => {
  const stage = await startStage();
  const stop = new AbortController();
  const asked = clusterSigner(workloadSpec());
  const mounted = without(workloadSpec(), 'requests');
  const podsOnly = {
    ...clusterSigner({ ...mounted, signerName: 'example.com/pods-only' }),
    metadata: { ...asked.metadata, name: 'pods-only', uid: 'pods-only' },
  };
  stage.server.always((call) => {
    if (call.query.get('watch') !== 'true') {
      call.answer(404, { kind: 'Status', reason: 'NotFound', code: 404 });
    } else {
      const objects = call.path.endsWith('/clustersigners') ? [asked, podsOnly] : [];
      const events = objects.map((object) => ({ type: 'ADDED', object }));
      call.lines(...events, bookmark(9, true));
    }
  });
  const approver = createApprover(componentOn(stage));
  const running = approver.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await stage.stop();
  });
  await until('both are known', PATIENCE_MS, () => approver.signers?.().length === 2);
  const names = approver
    .permissions()
    .filter(({ verbs }) => verbs.includes('approve'))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  assert.deepEqual(names, [workloadSpec()['signerName']]);
});
