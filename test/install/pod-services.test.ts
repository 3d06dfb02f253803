// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { installationNames } from '#install/installation-names.ts';
import { clusterSigner, changed, workloadSpec } from '../support/signers/cluster-signer.ts';
import { components, linesOf } from './roles.ts';

test('with podServices the components that answer pods read them and Services', () => {
  const answering = ['pcr-issuer', 'external-signer'];
  for (const component of components) {
    const before = linesOf(component);
    const granted = linesOf(component, { ...DEMO, podServices: true });
    const more = granted.filter((line) => !before.includes(line));
    const wanted = answering.includes(component) ? ['get /pods', 'get,list,watch /services'] : [];
    assert.deepEqual(more, wanted, component);
  }
});

for (const [law, field, value] of [
  ['Services', 'pods.services', {}],
  ['labels', 'pods.labels', ['app']],
  ['addresses', 'pods.ipAddresses', ['pod.ip']],
] as const) {
  test(`a ClusterSigner that asks for ${law} is found in the cluster, and only that one`, () => {
    const init = { secretNamespace: 'countersign-keys', servingSigner: 'example.com/own' };
    const plain = clusterSigner(workloadSpec());
    const asking = clusterSigner(changed(workloadSpec(), field, value));
    assert.equal(installationNames([plain], init).podServices, false);
    assert.equal(installationNames([plain, asking], init).podServices, true);
  });
}
