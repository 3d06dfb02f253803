// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { IN_SYSTEM, NODE, podsOf, rolledOut } from './shipped.ts';
import { create, nodePod, statusOf } from './stand.ts';

const BUNDLE = 'example.com:workload:primary';
const TEXT = 'Text between the blocks, which the API server allows.';
const WAIT_MS = 180_000;
const PEM_BLOCKS = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

async function scaleAttester(cluster: Cluster, replicas: number): Promise<void> {
  const deployment = 'deployment/countersign-attester';
  await cluster.kubectl(['scale', ...IN_SYSTEM, deployment, `--replicas=${replicas}`]);
}

async function publishedText(cluster: Cluster): Promise<string> {
  const read = ['get', 'clustertrustbundle', BUNDLE, '-o', 'jsonpath={.spec.trustBundle}'];
  return (await cluster.kubectl(read)).stdout;
}

/** The bundle as a kubelet writes it into a new pod. */
async function projected(cluster: Cluster, name: string): Promise<string> {
  const path = '/run/trust/ca.pem';
  const script = `process.stdout.write(require('node:fs').readFileSync('${path}', 'utf8'))`;
  const clusterTrustBundle = {
    signerName: 'example.com/workload',
    labelSelector: {},
    path: 'ca.pem',
  };
  const volumes = [{ name: 'trust', projected: { sources: [{ clusterTrustBundle }] } }];
  const volumeMounts = [{ name: 'trust', mountPath: '/run/trust', readOnly: true }];
  await create(cluster, nodePod(name, script, { image: NODE, volumeMounts }, { volumes }));
  await until(`${name} has ended`, WAIT_MS, async () => {
    return (await statusOf(cluster, name)).phase === 'Succeeded';
  });
  return (await cluster.kubectl(['logs', name])).stdout;
}

/**
 * A stranger's anchor, with text before and after it, in a bundle that nobody watches: a kubelet
 * skips the text and gives the anchor to pods, so the attester has to see it as well, and takes it
 * out once it is back.
 */
export async function textBetweenAnchors(cluster: Cluster): Promise<void> {
  const make = createManagedAuthorities((size) => randomBytes(size));
  const spec = { commonName: 'A stranger', durationSeconds: 86_400, now: Date.now() };
  const stranger = await make({ keyType: 'ECDSAP256', ...spec });
  const own = await publishedText(cluster);
  const [strange = ''] = anchorFingerprints(stranger.certificate);
  const ours = [...anchorFingerprints(own)].sort();
  await scaleAttester(cluster, 0);
  await until('no attester runs', WAIT_MS, async () => {
    return (await podsOf(cluster, 'attester')).length === 0;
  });
  const trustBundle = `${own}\n${TEXT}\n${stranger.certificate}\n${TEXT}\n`;
  const patch = JSON.stringify({ spec: { trustBundle } });
  await cluster.kubectl(['patch', 'clustertrustbundle', BUNDLE, '--type=merge', '-p', patch]);

  const read = await projected(cluster, 'reads-strangers');
  assert.deepEqual([...anchorFingerprints(read)].sort(), [...ours, strange].sort());
  assert.equal(read.replace(PEM_BLOCKS, '').trim(), '', 'a kubelet skips the text');

  await scaleAttester(cluster, 2);
  await rolledOut(cluster);
  await until('the stranger is out of the bundle', WAIT_MS, async () => {
    const text = await publishedText(cluster);
    return !anchorFingerprints(text).has(strange) && !text.includes(TEXT);
  });
  let turn = 0;
  await until('pods have our anchors alone', WAIT_MS, async () => {
    turn += 1;
    const now = await projected(cluster, `reads-ours-${turn}`);
    return [...anchorFingerprints(now)].sort().join() === ours.join();
  });
}
