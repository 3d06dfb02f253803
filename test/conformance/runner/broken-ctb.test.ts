// SPDX-License-Identifier: Apache-2.0
/** The runner beside a publisher of ClusterTrustBundles that is careless in places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { sequence } from '#pki/der/der-writer.ts';
import { EVALUATE } from '#conformance/runner/index.ts';
import { NOW, ROOT, authority } from '../../support/conformance/leaf.ts';
import type { MemoryCluster, React } from '../../support/conformance/memory-cluster.ts';
import { memoryRun } from '../../support/conformance/memory-run.ts';

const SIGNER = 'example.com/careless';
const HOUR_MS = 3600_000;
const COLLECTION = '/apis/certificates.k8s.io/v1/clustertrustbundles';
const PRIMARY = bundleName(SIGNER, 'primary');

const EXPECTED = [
  // Text between the blocks, an expired anchor, one without a name.
  'CTB-03',
  'CTB-07',
  'CTB-11',
  // Written over and over; and whatever else it finds is written by it, too.
  'CTB-16',
  'CTB-20',
  'CTB-21',
];

function publish(cluster: MemoryCluster): void {
  const expired = authority('Expired', 'expired', { notAfter: NOW - HOUR_MS });
  const nameless = authority('', 'nameless', { subject: sequence() });
  const trustBundle = [ROOT, expired, nameless]
    .map(({ pem }) => pem)
    .join('Bag Attributes: none\n');
  cluster.create(`${COLLECTION}/${encodeURIComponent(PRIMARY)}`, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      name: PRIMARY,
      uid: 'primary',
      resourceVersion: '',
      creationTimestamp: new Date(NOW).toISOString(),
    },
    spec: { signerName: SIGNER, trustBundle },
  });
}

/** Sees a bundle, and writes it and its own. */
const publisher =
  (cluster: MemoryCluster): React =>
  (path, { kind }) => {
    if (kind !== 'ClusterTrustBundle') return;
    const annotations = { seen: 'yes' };
    for (const each of [path, `${COLLECTION}/${encodeURIComponent(PRIMARY)}`]) {
      cluster.write(each, ({ metadata }) => ({ metadata: { ...metadata, annotations } }));
    }
  };

test('the runner finds exactly the faults of a publisher of ClusterTrustBundles', async () => {
  const { run, cluster } = memoryRun(SIGNER, publisher);
  publish(cluster);
  const failed = (await EVALUATE.ctb(run)).filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(
    failed.map(({ id }) => id),
    EXPECTED,
    failed.map(({ id, evidence }) => `${id} ${evidence}`).join('\n'),
  );
});
