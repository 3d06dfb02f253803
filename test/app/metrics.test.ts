// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentMetrics } from '../../src/app/metrics.ts';
import { createMetrics } from '../../src/web/metrics.ts';

test('the gauges of a signer name are removed when it is no longer served; those of others stay', async () => {
  const metrics = createMetrics('signer', '1');
  const told = componentMetrics(metrics, 'signer');
  for (const signer of ['example.com/a', 'example.com/b']) {
    told.pending('CertificateSigningRequest', signer, 1);
    told.pending('PodCertificateRequest', signer, 1);
    told.foreignBundles(signer, 1);
    told.authorityNotAfter(signer, 1);
    told.authorityFullLeaves(signer, 1);
    told.authorityPhase(signer, 'Active', 1);
    told.bundle(signer, { certificates: 1, notAfter: 1, published: 1 });
    told.crl(signer, { nextUpdate: 1, entries: 1 });
    told.crlFailing(signer, true);
  }
  told.unserved('example.com/a');
  const text = await metrics.registry.metrics();
  assert.ok(!text.includes('example.com/a'));
  assert.equal(text.split('example.com/b').length - 1, 12);
});

test('a live watch does not hide a dead one of the same collection, and a stopped one is removed', async () => {
  const metrics = createMetrics('signer', '1');
  const told = componentMetrics(metrics, 'signer');
  const resource = '/apis/certificates.k8s.io/v1/podcertificaterequests';
  const [dead, live] = ['spec.signerName=example.com/dead', 'spec.signerName=example.com/live'];
  told.watchEvent({ resource, selector: dead }, 1_000);
  told.watchEvent({ resource, selector: live }, 1_000);
  told.watchEvent({ resource, selector: live }, 2_000);
  const lastHeard = async (): Promise<readonly unknown[]> => {
    const { values } = await metrics.watchLastEvent.get();
    return values.map(({ labels, value }) => [labels.selector, value]);
  };
  assert.deepEqual(await lastHeard(), [
    [dead, 1_000],
    [live, 2_000],
  ]);
  told.watchStopped({ resource, selector: dead });
  assert.deepEqual(await lastHeard(), [[live, 2_000]]);
});

test('outdated names of a signer are counted by the ledger or since the start, never by both', async () => {
  const metrics = createMetrics('pcr-issuer', '1');
  const told = componentMetrics(metrics, 'pcr-issuer');
  const counted = async (): Promise<readonly unknown[]> => {
    const { values } = await metrics.podNamesOutdated.get();
    return values.map(({ labels, value }) => [labels.signer, labels.since, value]);
  };
  told.podNamesOutdated('example.com/a', 2, 'start');
  told.podNamesOutdated('example.com/b', 1, 'start');
  told.podNamesOutdated('example.com/a', 3, 'ledger');
  assert.deepEqual(await counted(), [
    ['example.com/b', 'start', 1],
    ['example.com/a', 'ledger', 3],
  ]);
  told.podNamesOutdated('example.com/a', 2, 'start');
  assert.deepEqual(await counted(), [
    ['example.com/b', 'start', 1],
    ['example.com/a', 'start', 2],
  ]);
  told.unserved('example.com/a');
  assert.deepEqual(await counted(), [['example.com/b', 'start', 1]]);
});
