// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentMetrics } from '../../src/cli/metrics.ts';
import { createMetrics } from '../../src/web/metrics.ts';

test('the gauges of a signer name go when it is served no more; those of others stay', async () => {
  const metrics = createMetrics('signer', '1');
  const told = componentMetrics(metrics, 'signer');
  for (const signer of ['example.com/a', 'example.com/b']) {
    told.pending('CertificateSigningRequest', signer, 1);
    told.pending('PodCertificateRequest', signer, 1);
    told.foreignBundles(signer, 1);
    told.authorityNotAfter(signer, 1);
  }
  told.unserved('example.com/a');
  const text = await metrics.registry.metrics();
  assert.ok(!text.includes('example.com/a'));
  assert.equal(text.split('example.com/b').length - 1, 4);
});
