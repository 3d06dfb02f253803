// SPDX-License-Identifier: Apache-2.0
/** Workloads and a target of the signer `workload`, with texts that strangers chose. */
import { TRUST_KEY, trustConfigMapName } from '#api/object/trust-config-map.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { REFRESH } from '#workloads/refresh/opt-in.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { namedInUtf8 } from '../support/pki/certificate-der.ts';
import { ca, link, usage } from '../support/pki/chain.ts';

const SIGNER = 'example.com/workload';
const BUNDLE = 'example.com:workload:primary';
const PODS = 3;
const CREATED_MS = 60_000;

/** The spec of a pod with one projection. */
function podSpec(source: object): object {
  return {
    containers: [{ name: 'main', image: 'none' }],
    volumes: [{ name: 'trust', projected: { sources: [source] } }],
  };
}

/** Creates pods that mount certificate and bundle, and a copy of the bundle with another anchor. */
export async function createTrustScene(cluster: Cluster, hostile: string): Promise<void> {
  const podCertificate = {
    signerName: SIGNER,
    keyType: 'ECDSAP256',
    credentialBundlePath: 'a.pem',
  };
  const labels = { app: 'proxy' };
  const owner = { apiVersion: 'apps/v1', kind: hostile, name: 'x', uid: 'x', controller: true };
  const anchor = link('x', { subject: namedInUtf8(hostile), extensions: [ca(0), usage()] });
  const items = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'proxy', namespace: 'default', annotations: { [REFRESH]: 'secrets' } },
      spec: {
        replicas: PODS - 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec({ podCertificate }) },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'client', namespace: 'default', ownerReferences: [owner] },
      spec: podSpec({ clusterTrustBundle: { name: BUNDLE, path: 'ca.pem' } }),
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: trustConfigMapName(BUNDLE),
        namespace: 'default',
        annotations: { [SIGNER_NAME]: SIGNER },
      },
      data: { [TRUST_KEY]: encodePem('CERTIFICATE', anchor.certificate.raw) },
    },
  ];
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await cluster.kubectl(['create', '-f', '-'], { input });
  await until('the pods of the Deployment exist', CREATED_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', 'pods', '-n', 'default', '-o', 'name']);
    return stdout.trim().split('\n').length === PODS ? true : undefined;
  });
}
