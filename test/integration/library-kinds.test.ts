// SPDX-License-Identifier: Apache-2.0
/**
 * An outsider's signer that serves every kind of request, with cert-manager's own CRDs and nothing
 * else of it; and what the conformance kit, which knows nothing of the library, finds of it.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isConformant, type Report } from '#conformance/report/report.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  createCertificateRequest,
  decideOn,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { apply } from '../support/cluster/apply.ts';
import {
  applyCaSecret,
  issuerSpec,
  startLibrarySigner,
  untilReadyIs,
} from '../support/cluster/library-signer.ts';
import { packOutsider, type Outsider, type Program } from '../support/cluster/npm-package.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { selfSignedCa, type CaPem } from '../support/ca/ca-secret.ts';

const NAMESPACE = 'team-a';
const GROUP = 'outside.example.com';
const SIGNER_NAME = `outsiders.${GROUP}/every`;
const ISSUER = { group: GROUP, kind: 'Outsider', name: 'every' };

let cluster: Cluster;
let outsider: Outsider;
let program: Program | undefined;
let ca: CaPem;

before(async () => {
  outsider = packOutsider(['test/npm-consumer/signer.ts', 'test/npm-consumer/package.json']);
  // Of its own: another signer of this kind may be at work on the one that others share.
  cluster = await startCluster({ version: '1.37' });
  await createTeam(cluster, NAMESPACE, ['web']);
  ca = await selfSignedCa('Outsider CA');
  program = await startLibrarySigner(cluster, outsider, {
    program: 'signer.ts',
    signerName: SIGNER_NAME,
    crd: `outsiders.${GROUP}`,
    namespaces: ['outsider-system', 'outsider-keys'],
  });
  const secret = { namespace: 'outsider-keys', name: 'outsider-ca', signerName: SIGNER_NAME };
  await applyCaSecret(cluster, secret, ca);
  // Only now: the process has waited for this kind.
  await applyCrds(cluster);
  await allowCertificateRequesters(cluster);
  const all = ['commonName', 'dnsNames', 'ipAddresses', 'uris'].map((field) => [field, 'true']);
  const usages = ['digital signature', 'client auth', 'server auth'];
  const allow = { ...Object.fromEntries(all), usages } as object;
  await apply(cluster, {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Outsider',
    metadata: { name: 'every' },
    spec: issuerSpec(
      { secret: 'outsider-ca' },
      {
        profile: { keyTypes: ['ECDSAP256', 'ED25519'], usages, maxDuration: '24h' },
        certificateRequests: { rules: [{ name: 'all', when: 'true', allow }] },
      },
    ),
  });
  await untilReadyIs(cluster, [`outsiders.${GROUP}`, 'every'], 'Checked');
});
after(async () => {
  await program?.stop();
  await cluster.stop();
  outsider.remove();
});

const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

test('a CertificateRequest for an external issuer gets its condition, chain and CA', async () => {
  const key = await approvedRequest(cluster, { issuerRef: ISSUER });
  const { status } = await waitForReadyReason(cluster, key, 'Issued');
  const leaf = new X509Certificate(text(status?.certificate));
  assert.equal(leaf.subjectAltName, 'DNS:web.team-a.svc');
  assert.ok(leaf.verify(new X509Certificate(ca.certificate).publicKey));
  assert.equal(text(status?.ca).trim(), ca.certificate.trim());
  const ordered = status?.conditions?.find(({ type }) => type === 'Ordered');
  assert.equal(ordered?.message, 'of every');
});

test('a denied CertificateRequest becomes Denied; another issuer’s is not touched', async () => {
  const denied = await createCertificateRequest(cluster, { issuerRef: ISSUER });
  await decideOn(cluster, denied, 'Denied');
  const other = await approvedRequest(cluster, { issuerRef: { ...ISSUER, name: 'nobody' } });
  await waitForReadyReason(cluster, denied, 'Denied');
  await waitForReadyReason(
    cluster,
    await approvedRequest(cluster, { issuerRef: ISSUER }),
    'Issued',
  );
  const path = 'jsonpath={.status.conditions[*].type}';
  const [namespace = '', name = ''] = other.split('/');
  const { stdout } = await cluster.kubectl([
    'get',
    'certificaterequest',
    name,
    '-n',
    namespace,
    '-o',
    path,
  ]);
  assert.equal(stdout, 'Approved');
});

const RUNS = [
  ['csr', SIGNER_NAME, { usages: ['digital signature', 'client auth'] }],
  [
    'certificaterequest',
    `Outsider.${GROUP}/every`,
    { usages: ['digital signature', 'server auth'] },
  ],
] as const;

for (const [kind, signer, more] of RUNS) {
  test(`22. the conformance kit accepts a signer made with the library: ${kind}`, async () => {
    const file = (name: string): string => join(cluster.directory, name);
    // Other tests run beside: how fast it is, is for benches.
    const profile = { keyTypes: ['ECDSAP256', 'ED25519'], maxDuration: '24h', latency: '120s' };
    writeFileSync(file(`${kind}.yaml`), JSON.stringify({ ...profile, ...more }));
    writeFileSync(file('anchors.pem'), ca.certificate);
    const { stdout, stderr } = await countersign([
      'conformance',
      '--signer',
      signer,
      '--kind',
      kind,
      '--output',
      'json',
      '--profile',
      file(`${kind}.yaml`),
      '--anchors',
      file('anchors.pem'),
      '--namespace',
      NAMESPACE,
      '--service-account',
      'web',
      '--timeout',
      '60s',
      '--kubeconfig',
      cluster.kubeconfig,
    ]);
    assert.notEqual(stdout, '', stderr);
    const report = JSON.parse(stdout) as Report;
    const failed = report.results.filter(({ outcome }) => outcome === 'fail');
    assert.ok(isConformant(report), JSON.stringify(failed, undefined, 2));
    assert.deepEqual(report.left, []);
    assert.ok(report.results.filter(({ outcome }) => outcome === 'pass').length > 10);
  });
}
