// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '#install/workloads/deployment.ts';
import { planOf } from '#install/values/plan.ts';

function svidVolume(svidSigner: string): object | undefined {
  const values = {
    signers: [{ name: 'example.com/workload' }],
    components: { 'bundle-endpoint': { enabled: true } },
    bundleEndpoint: { svidSigner },
  };
  const plan = planOf(values, { namespace: 'default', version: '0.1.0' });
  const { spec } = deployment('bundle-endpoint', plan) as {
    readonly spec: {
      readonly template: {
        readonly spec: { readonly volumes: readonly { readonly name: string }[] };
      };
    };
  };
  return spec.template.spec.volumes.find(({ name }) => name === 'svid');
}

test('the SVID of bundle-endpoint is a podCertificate of the named signer, or a Secret', () => {
  const podCertificate = {
    signerName: 'example.com/workload',
    keyType: 'ECDSAP256',
    keyPath: 'tls.key',
    certificateChainPath: 'tls.crt',
  };
  const projected = { sources: [{ podCertificate }] };
  assert.deepEqual(svidVolume('example.com/workload'), { name: 'svid', projected });
  const secret = { secretName: 'countersign-bundle-endpoint-svid', optional: true };
  assert.deepEqual(svidVolume(''), { name: 'svid', secret });
});
