// SPDX-License-Identifier: Apache-2.0
/** A signer of another kind yields its name to every ClusterSigner that claims it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { watchAcmeSigners } from '#component/signers/acme-signers.ts';
import { watchExternalSigners } from '#component/signers/external-signers.ts';
import type { KubeObject } from '#api/object/object.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi, type Thing } from '../../support/kube/memory-api.ts';
import { clusterSigner } from '../../support/signers/cluster-signer.ts';
import { signerObject } from '../../requests/external-signer/world.ts';

const NAME = 'example.com/claimed';
const GROUP = '/apis/countersign.dev/v1alpha1';
const asThing = (object: KubeObject): Thing => object;

let api: MemoryApi;
let stop: AbortController;
let running: Promise<void>;
beforeEach(() => {
  api = memoryApi();
  stop = new AbortController();
  for (const name of ['one', 'two']) {
    const signer = clusterSigner({ signerName: NAME });
    const metadata = { ...signer.metadata, name, uid: name };
    api.put(`${GROUP}/clustersigners/${name}`, asThing({ ...signer, metadata }));
  }
});
afterEach(async () => {
  stop.abort();
  await running;
});

const KINDS = [
  {
    kind: 'ExternalClusterSigner',
    path: `${GROUP}/externalclustersigners/corporate`,
    object: signerObject({ signerName: NAME }),
    watch: watchExternalSigners,
  },
  {
    kind: 'AcmeClusterSigner',
    path: '/apis/acme.countersign.dev/v1alpha1/acmeclustersigners/web',
    object: asThing(acmeObject({}, NAME)),
    watch: watchAcmeSigners,
  },
];

for (const { kind, path, object, watch } of KINDS) {
  test(`an ${kind} waits while any of two ClusterSigners has its name`, async () => {
    api.put(path, object);
    const time = fakeTime(0);
    const turns = async (): Promise<void> => {
      for (let count = 0; count < 20; count += 1) await time.advance(0);
    };
    const { clock, delay } = time;
    const signers = watch(recordedComponent({ client: api.client, clock, delay }));
    running = signers.run(stop.signal);
    await turns();
    assert.equal(signers.settled, true);
    assert.equal(signers.serving(NAME), undefined);
    api.remove(`${GROUP}/clustersigners/two`);
    await turns();
    assert.equal(signers.serving(NAME), undefined);
    api.remove(`${GROUP}/clustersigners/one`);
    await turns();
    assert.notEqual(signers.serving(NAME), undefined);
  });
}
