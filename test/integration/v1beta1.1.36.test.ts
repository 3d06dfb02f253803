// SPDX-License-Identifier: Apache-2.0
/** certificates.k8s.io/v1beta1 on Kubernetes 1.36: the same promises through the older API. */
import assert from 'node:assert/strict';
import {
  X509Certificate,
  constants,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto';
import { after, before, test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { hasTrueCondition } from '#api/request/conditions.ts';
import { until } from '../cluster/until.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
  await createTeam(fixture.cluster, 'team-a', ['web']);
});
after(() => fixture.stop());

const WAIT_MS = 120_000;

test('a pod gets its credential and its bundle by certificates.k8s.io/v1beta1', async () => {
  await createPod(fixture.cluster, {
    namespace: 'team-a',
    name: 'web',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ED25519',
    maxExpirationSeconds: 3600,
  });
  await filesOf(fixture.cluster, { namespace: 'team-a', name: 'web' });
  const request = await waitForRequest(fixture.cluster, 'team-a', 'web', 'Issued');
  assert.equal(request.apiVersion, 'certificates.k8s.io/v1beta1');
  const { notBefore = '', notAfter = '' } = request.status ?? {};
  assert.equal(Date.parse(notAfter) - Date.parse(notBefore), 3_600_000);
});

test('a user gets a client certificate on Kubernetes 1.36', async () => {
  const name = await createCsr(fixture.cluster);
  assert.equal(
    new X509Certificate(await waitForCertificate(fixture.cluster, name)).subject,
    'O=dev\nCN=jane',
  );
});

/** The proof that the API asks for: a signature over the pod's UID (validation.go:668). */
function proof(key: KeyObject, podUid: string): Buffer {
  const message = Buffer.from(podUid, 'ascii');
  if (key.asymmetricKeyType === 'ed25519') return sign(null, message, key);
  if (key.asymmetricKeyType === 'ec') return sign('sha256', message, key);
  return sign('sha256', message, {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
}

async function legacy(
  name: string,
  keys: { publicKey: KeyObject; privateKey: KeyObject },
): Promise<PodCertificateRequest> {
  const podUID = randomUUID();
  const request = {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'PodCertificateRequest',
    metadata: { namespace: 'team-a', name },
    spec: {
      signerName: 'example.com/workload',
      podName: name,
      podUID,
      serviceAccountName: 'web',
      serviceAccountUID: randomUUID(),
      nodeName: 'node-1',
      nodeUID: randomUUID(),
      pkixPublicKey: keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      proofOfPossession: proof(keys.privateKey, podUID).toString('base64'),
    },
  };
  await fixture.cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(request) });
  return until(`${name} is answered`, WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl([
      'get',
      'podcertificaterequest',
      name,
      '-n',
      'team-a',
      '-o',
      'json',
    ]);
    const found = JSON.parse(stdout) as PodCertificateRequest;
    return found.status?.conditions === undefined ? undefined : found;
  });
}

test('a pkixPublicKey of an older kubelet is answered like a stub', async () => {
  const ec = await legacy('pkix-ec', generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  assert.ok(hasTrueCondition(ec.status?.conditions, 'Issued'));
  const ed = await legacy('pkix-ed', generateKeyPairSync('ed25519'));
  assert.ok(hasTrueCondition(ed.status?.conditions, 'Issued'));
  const leaf = new X509Certificate(ed.status?.certificateChain ?? '');
  assert.equal(leaf.subjectAltName, 'URI:spiffe://cluster.local/ns/team-a/sa/web');
});

test('a pkixPublicKey type outside the profile is Denied with UnsupportedKeyType', async () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 3072 });
  const rsa = await legacy('pkix-rsa', keys);
  assert.equal(rsa.status?.conditions?.[0]?.type, 'Denied');
  assert.equal(rsa.status.conditions[0].reason, 'UnsupportedKeyType');
});
