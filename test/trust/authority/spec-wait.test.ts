// SPDX-License-Identifier: Apache-2.0
/** The whole component: a spec that got no time to compile is looked at again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { createAuthorityController } from '#trust/authority/index.ts';
import { vaultAccess } from '#component/vault/access.ts';
import { resource } from '#kube/resource/resource.ts';
import { MAX_TURNS, chargeSlice } from '#component/signers/cpu-slice.ts';
import { until } from '../../cluster/until.ts';
import { componentOn } from '../../requests/loop/controlled.ts';
import { A, secret } from '../../support/trust/ca-secrets.ts';
import { NOW } from '../../support/pki/chain.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi } from '../../support/kube/memory-api.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const PATH = '/apis/countersign.dev/v1alpha1/clustersigners/workload';
const BUNDLES = { group: 'certificates.k8s.io', version: 'v1', plural: 'clustertrustbundles' };
/**
 * With a CA of its owner's: nobody makes another one, which would be a reason to look again soon.
 */
const SPEC = {
  ...workloadSpec(),
  authority: { secret: { namespace: 'countersign-keys', name: 'workload-ca' } },
};
const SECRET = '/api/v1/namespaces/countersign-keys/secrets/workload-ca';

test('a spec without a turn of the event loop is checked again once it may compile', async () => {
  const [api, time, stop] = [memoryApi(), fakeTime(NOW), new AbortController()];
  api.put(PATH, clusterSigner(SPEC));
  api.put(SECRET, secret(A));
  const component = componentOn({ client: api.client, time });
  const { random } = component;
  const controller = createAuthorityController({
    component,
    bundles: resource(BUNDLES),
    version: '1.2.3',
    components: [],
    open: openLocalAuthority,
    crossSign: createCrossSign(random),
    create: createManagedAuthorities(random),
    createRequest: createCaRequest,
    vaults: vaultAccess(new Map(), { userAgent: 'test', proxy: undefined }),
  });
  const ready = () => {
    const { status } = api.get(PATH) as unknown as ClusterSigner;
    return findCondition(status?.conditions, 'Ready');
  };
  let isBusy = true;
  const occupy = (): void => {
    chargeSlice(1_000);
    if (isBusy) setImmediate(occupy);
  };
  occupy();
  const running = controller.run(stop.signal);
  try {
    await until('others have the turns', PATIENCE_MS, async () => {
      // The Secret is read a little later than the signer, which is looked at again after five
      // seconds then.
      await time.advance(1_000);
      return ready()?.reason === 'CelThrottled';
    });
    // Its own status wakes it once more: that look ends without a turn as well.
    for (let turns = 0; turns < 2 * MAX_TURNS; turns += 1) await time.advance(0);
    isBusy = false;
    // Less than any other reason to look again.
    await time.advance(300);
    const isLookedAt = (): boolean => ready()?.reason !== 'CelThrottled';
    await until('it is looked at again', PATIENCE_MS, isLookedAt);
    assert.notEqual(ready()?.reason, undefined);
  } finally {
    isBusy = false;
    stop.abort(new Error('stopped'));
    await running;
  }
});
