// SPDX-License-Identifier: Apache-2.0
/** Signers that know of Countersign what its package exports, on the real API server and kubelets. */
import assert from 'node:assert/strict';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { selfSignedTbs } from '../../src/issuance/ca-certificate.ts';
import { encodePem } from '../../src/pki/pem.ts';
import { generatePrivateKey } from '../../src/pki/private-key.ts';
import { signatureAlgorithm } from '../../src/pki/signature-algorithm.ts';
import { encodeCertificate } from '../../src/pki/tbs.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { waitForCondition } from '../support/csr.ts';
import {
  apply,
  issuerSpec,
  requireBoth,
  startLibrarySigner,
  untilReadyIs,
  type SignerWanted,
} from '../support/library-signer.ts';
import { packOutsider, type Outsider, type Program } from '../support/packed.ts';
import { createTeam } from '../support/pods.ts';
import { allowRequesters, createCsr } from '../support/requests.ts';

const NAMESPACE = 'team-library';

let cluster: Cluster;
let outsider: Outsider;
const programs: Program[] = [];

before(async () => {
  outsider = packOutsider([
    'examples/key-on-disk.ts',
    'test/outsider/signer.ts',
    'test/outsider/package.json',
  ]);
  cluster = await startCluster({ version: '1.37' });
  await allowRequesters(cluster);
  await createTeam(cluster, NAMESPACE, ['web']);
});
after(async () => {
  await Promise.all(programs.map((each) => each.stop()));
  await cluster.stop();
  outsider.remove();
});

interface Material {
  readonly certificate: string;
  readonly key: string;
}

async function newCa(commonName: string): Promise<Material> {
  const { key, pem, spki }: { key: KeyObject; pem: string; spki: Uint8Array } =
    await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));
  const tbs = selfSignedTbs({
    ...{ commonName, durationSeconds: 86_400, now: Date.now(), spki, random },
    signatureAlgorithm: algorithm.der,
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { certificate: encodePem('CERTIFICATE', der), key: pem };
}

async function start(wanted: SignerWanted): Promise<Program> {
  const program = await startLibrarySigner(cluster, outsider, wanted);
  programs.push(program);
  return program;
}

test('an outsider’s signer, from its Secret: CRD and roles as it prints them, a CSR and a pod', async () => {
  const ca = await newCa('Outsider CA');
  const signerName = 'outsiders.outside.example.com/mine';
  const program = await start({
    ...{ program: 'signer.ts', signerName, crd: 'outsiders.outside.example.com' },
    namespaces: ['outsider-system', 'outsider-keys'],
  });
  await apply(cluster, {
    apiVersion: 'outside.example.com/v1alpha1',
    kind: 'Outsider',
    metadata: { name: 'mine' },
    spec: issuerSpec({ secret: 'outsider-ca' }),
  });
  const said = await untilReadyIs(cluster, ['outsiders', 'mine'], 'Pending');
  assert.match(said, /outsider-keys\/outsider-ca does not exist/);
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      name: 'outsider-ca',
      namespace: 'outsider-keys',
      annotations: { 'countersign.dev/signer-name': signerName },
    },
    stringData: { 'tls.crt': ca.certificate, 'tls.key': ca.key },
  });
  await untilReadyIs(cluster, ['outsiders', 'mine'], 'Checked');
  const pod = { namespace: NAMESPACE, name: 'outsider' };
  await requireBoth(cluster, signerName, pod, ca.certificate);

  const refused = await createCsr(cluster, { signerName, commonName: 'nobody' });
  await cluster.kubectl(['certificate', 'approve', refused]);
  const failed = await waitForCondition(cluster, refused, 'Failed');
  assert.equal(failed.message, 'nobody gets nothing');
  assert.equal(await program.stop(), 0);
});

test('examples/key-on-disk.ts signs a CSR and a pod with two files', async () => {
  const ca = await newCa('Disk CA');
  const folder = join(outsider.directory, 'ca/blue');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tls.crt'), ca.certificate);
  writeFileSync(join(folder, 'tls.key'), ca.key, { mode: 0o600 });
  const signerName = 'diskissuers.disk.example.com/blue';
  await start({
    ...{ program: 'key-on-disk.ts', signerName, crd: 'diskissuers.disk.example.com' },
    namespaces: ['disk-signer'],
    env: { CA_ROOT: join(outsider.directory, 'ca') },
  });
  await apply(cluster, {
    apiVersion: 'disk.example.com/v1',
    kind: 'DiskIssuer',
    metadata: { name: 'blue' },
    spec: issuerSpec({ folder: 'blue' }),
  });
  await untilReadyIs(cluster, ['diskissuers', 'blue'], 'Checked');
  const pod = { namespace: NAMESPACE, name: 'disk' };
  await requireBoth(cluster, signerName, pod, ca.certificate);
});
