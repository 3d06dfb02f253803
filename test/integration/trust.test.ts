// SPDX-License-Identifier: Apache-2.0
/** ClusterTrustBundles: what the attester publishes, repairs, reports, retains and deletes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  RETAIN_UNTIL,
  servedSince,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { until } from '../cluster/until.ts';
import {
  applySigner,
  example,
  getSigner,
  startFixture,
  type Fixture,
} from '../support/cluster/fixture.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture.stop());

const NAME = 'example.com:workload:primary';
const WAIT_MS = 120_000;

async function getBundle(name = NAME): Promise<ClusterTrustBundle | undefined> {
  const { code, stdout } = await fixture.cluster.kubectl(
    ['get', 'clustertrustbundle', name, '-o', 'json'],
    { allowFailure: true },
  );
  return code === 0 ? (JSON.parse(stdout) as ClusterTrustBundle) : undefined;
}

async function patch(change: object): Promise<void> {
  const text = JSON.stringify(change);
  await fixture.cluster.kubectl(['patch', 'clustertrustbundle', NAME, '--type=merge', '-p', text]);
}

test('the bundle holds the anchors of the ClusterSigner’s status with served-since', async () => {
  const bundle = await until('the bundle is there', WAIT_MS, () => getBundle());
  const { status } = await getSigner(fixture.cluster, 'workload');
  const anchors = readAnchors(status?.authorities?.[0]?.anchors ?? '');
  assert.deepEqual(
    readAnchors(bundle.spec.trustBundle).map((each) => fingerprint(each.raw)),
    anchors.map((each) => fingerprint(each.raw)),
  );
  assert.deepEqual(
    [...servedSince(bundle).keys()],
    anchors.map((each) => fingerprint(each.raw)),
  );
});

test("another client's edit of the bundle is reverted, with an Event", async () => {
  const before = await getBundle();
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'secret',
    'people-ca',
    '-n',
    'countersign-keys',
    '-o',
    'jsonpath={.data.tls\\.crt}',
  ]);
  const foreign = Buffer.from(stdout, 'base64').toString();
  await patch({ spec: { trustBundle: foreign } });
  await until('the bundle is repaired', WAIT_MS, async () => {
    return (await getBundle())?.spec.trustBundle === before?.spec.trustBundle;
  });
  await until('the Event is there', WAIT_MS, async () => {
    const { stdout: events } = await fixture.cluster.kubectl([
      'get',
      'events.events.k8s.io',
      '-n',
      'default',
      '--field-selector',
      'reason=BundleRepaired',
      '-o',
      'name',
    ]);
    return events !== '';
  });
});

test('an anchor that was removed and restored counts as served from the restore on', async () => {
  const before = await until('the bundle is there', WAIT_MS, () => getBundle());
  const [key = '', since = 0] = [...servedSince(before)][0] ?? [];
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'secret',
    'people-ca',
    '-n',
    'countersign-keys',
    '-o',
    'jsonpath={.data.tls\\.crt}',
  ]);
  await patch({ spec: { trustBundle: Buffer.from(stdout, 'base64').toString() } });
  const after = await until('the bundle is repaired', WAIT_MS, async () => {
    const bundle = await getBundle();
    return bundle?.spec.trustBundle === before.spec.trustBundle ? bundle : undefined;
  });
  assert.ok((servedSince(after).get(key) ?? 0) >= since);
});

test('a deleted ClusterTrustBundle is republished with its age, as describe says', async () => {
  const before = await until('the bundle is there', WAIT_MS, () => getBundle());
  await fixture.cluster.kubectl(['delete', 'clustertrustbundle', NAME]);
  const after = await until('the bundle is back', WAIT_MS, async () => {
    const bundle = await getBundle();
    return bundle?.metadata.uid === before.metadata.uid ? undefined : bundle;
  });
  assert.deepEqual(servedSince(after), servedSince(before));
  await until('describe shows the Event', WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl(['describe', 'clustertrustbundle', NAME]);
    return /BundleRepaired.*deleted it/.test(stdout);
  });
});

test('a bundle under our signer name that is not ours is reported and left alone', async () => {
  const own = await until('the bundle is there', WAIT_MS, () => getBundle());
  const foreign = {
    apiVersion: own.apiVersion,
    kind: 'ClusterTrustBundle',
    metadata: { name: 'example.com:workload:foreign' },
    spec: own.spec,
  };
  await fixture.cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(foreign) });
  await until('the Event is there', WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl([
      'get',
      'events.events.k8s.io',
      '-n',
      'default',
      '--field-selector',
      'reason=ForeignBundle',
      '-o',
      'jsonpath={.items[*].regarding.name}',
    ]);
    return stdout.includes('example.com:workload:foreign');
  });
  const { attester } = fixture.installation.components;
  const series =
    'countersign_trust_bundle_foreign{signer="example.com/workload",component="attester"} 1';
  assert.ok((await attester.metrics()).includes(series));
  await fixture.cluster.kubectl(['delete', 'clustertrustbundle', 'example.com:workload:foreign']);
});

test('a deleted ClusterSigner’s bundle outlives its last leaf and is adopted again', async () => {
  const before = Date.now();
  await fixture.cluster.kubectl(['delete', 'clustersigner', 'workload']);
  const retained = await until('the bundle is to be retained', WAIT_MS, async () => {
    const bundle = await getBundle();
    return bundle?.metadata.annotations?.[RETAIN_UNTIL] === undefined ? undefined : bundle;
  });
  const untilEnd = Date.parse(retained.metadata.annotations?.[RETAIN_UNTIL] ?? '') - before;
  // Ten minutes in which a leaf may be made late, and five of a late verifier.
  const last = 24 * 3_600_000 + 15 * 60_000;
  assert.ok(Math.abs(untilEnd - last) < WAIT_MS, `${untilEnd} ms`);
  const past = { metadata: { annotations: { [RETAIN_UNTIL]: '2020-01-01T00:00:00Z' } } };
  await patch(past);
  await until('the bundle is deleted', WAIT_MS, async () => (await getBundle()) === undefined);
  await applySigner(fixture.cluster, example('workload'));
  await until('the bundle is back', WAIT_MS, () => getBundle());
});
