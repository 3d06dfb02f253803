// SPDX-License-Identifier: Apache-2.0
/**
 * ML-DSA-65 CAs on the real API server and through a real kubelet, neither of which knows ML-DSA.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { VERSION, applySigner, example, waitForReady } from '../support/cluster/fixture.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { caSecretManifest } from '../support/ca/ca-secret.ts';
import { applyText } from '../support/cluster/apply.ts';

/** RFC 9881 §3. */
const ML_DSA_65 = '2.16.840.1.101.3.4.3.18';

let cluster: Cluster;
let installation: Installation | undefined;
before(async () => {
  cluster = await startCluster({ version: VERSION });
  await applyManifests(cluster);
  await allowRequesters(cluster);
  await createTeam(cluster, 'team-a', ['web']);
  installation = await startComponents(cluster);
});
after(async () => {
  await installation?.stop();
  await cluster.stop();
});

/** By OpenSSL 3.5, which Node brings. */
function assertIssued(leaf: X509Certificate, ca: X509Certificate): void {
  assert.equal(leaf.signatureAlgorithmOid, ML_DSA_65);
  assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey));
}

test('a pod gets a credential of a managed ML-DSA-65 CA and its bundle', async () => {
  const signer = example('workload');
  const { managed } = signer.spec.authority;
  const authority = { managed: { ...managed, keyType: 'MLDSA65' } };
  await applySigner(cluster, { ...signer, spec: { ...signer.spec, authority } });
  await waitForReady(cluster, 'workload', 'Checked');
  const pod = { namespace: 'team-a', name: 'web' };
  await createPod(cluster, {
    ...pod,
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ECDSAP256',
  });
  const files = await filesOf(cluster, pod);
  const request = await waitForRequest(cluster, 'team-a', 'web', 'Issued');
  const leaf = new X509Certificate(request.status?.certificateChain ?? '');
  assert.equal(leaf.subjectAltName, 'URI:spiffe://cluster.local/ns/team-a/sa/web');
  const ca = new X509Certificate(readFileSync(files.trust));
  assert.equal(ca.publicKey.asymmetricKeyType, 'ml-dsa-65');
  assert.ok(ca.verify(ca.publicKey));
  assertIssued(leaf, ca);
  const credentials = readFileSync(files.credentials, 'utf8');
  assert.ok(credentials.includes(leaf.toString().trim()));
});

test('a person gets a certificate of a CA of their own with an ML-DSA-65 key', async () => {
  const { certificate, key } = await certificateAuthority({ keyType: 'MLDSA65' });
  const input = caSecretManifest('people-ca', { certificate, key }, 'example.com/people');
  await applyText(cluster, input);
  await applySigner(cluster, example('people'));
  await waitForReady(cluster, 'people', 'Checked');
  const name = await createCsr(cluster);
  const leaf = new X509Certificate(await waitForCertificate(cluster, name));
  assert.equal(leaf.subject, 'O=dev\nCN=jane');
  assertIssued(leaf, new X509Certificate(certificate));
});
