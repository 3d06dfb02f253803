// SPDX-License-Identifier: Apache-2.0
/** The whole component: a spec that got no time to compile is looked at again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '../../../src/api/request/conditions.ts';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import { createCrossSign } from '../../../src/authorities/cross-sign.ts';
import { openLocalAuthority } from '../../../src/authorities/local.ts';
import { createManagedAuthorities } from '../../../src/authorities/managed.ts';
import { createAuthorityController } from '../../../src/controllers/authority/index.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import { MAX_TURNS, useTurn } from '../../../src/runtime/signers/turn.ts';
import { until } from '../../cluster/until.ts';
import { componentOn } from '../../runtime/requests/controlled.ts';
import { A, secret } from '../../support/controllers/ca-secrets.ts';
import { NOW } from '../../support/pki/chain.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi } from '../../support/kube/memory-api.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const PATH = '/apis/countersign.dev/v1alpha1/clustersigners/workload';
const BUNDLES = { group: 'certificates.k8s.io', version: 'v1', plural: 'clustertrustbundles' };
/** With a CA of its owner's: nobody makes another one, which would be a reason to look again soon. */
const SPEC = {
  ...workloadSpec(),
  authority: { secret: { namespace: 'countersign-keys', name: 'workload-ca' } },
};
const SECRET = '/api/v1/namespaces/countersign-keys/secrets/workload-ca';

test('a spec that got no turn of the event loop is looked at again as soon as it may compile', async () => {
  const [api, time, stop] = [memoryApi(), fakeTime(NOW), new AbortController()];
  api.put(PATH, clusterSigner(SPEC));
  api.put(SECRET, secret(A));
  const component = componentOn({ client: api.client, time });
  const { random } = component;
  const controller = createAuthorityController({
    ...{ component, bundles: resource(BUNDLES), version: '1.2.3' },
    ...{ open: openLocalAuthority, crossSign: createCrossSign(random) },
    create: createManagedAuthorities(random),
  });
  const ready = () => {
    const { status } = api.get(PATH) as unknown as ClusterSigner;
    return findCondition(status?.conditions, 'Ready');
  };
  let isBusy = true;
  const occupy = (): void => {
    useTurn(1_000);
    if (isBusy) setImmediate(occupy);
  };
  occupy();
  const running = controller.run(stop.signal);
  try {
    await until('others have the turns', PATIENCE_MS, async () => {
      // The Secret is read a little later than the signer, which is looked at again after five seconds then.
      await time.advance(1_000);
      return ready()?.reason === 'CelTurnsTaken';
    });
    // Its own status wakes it once more: that look ends without a turn as well.
    for (let turns = 0; turns < 2 * MAX_TURNS; turns += 1) await time.advance(0);
    isBusy = false;
    // Less than any other reason to look again.
    await time.advance(300);
    const isLookedAt = (): boolean => ready()?.reason !== 'CelTurnsTaken';
    await until('it is looked at again', PATIENCE_MS, isLookedAt);
    assert.notEqual(ready()?.reason, undefined);
  } finally {
    isBusy = false;
    stop.abort(new Error('stopped'));
    await running;
  }
});
