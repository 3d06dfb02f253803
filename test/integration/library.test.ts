// SPDX-License-Identifier: Apache-2.0
/**
 * Signers that know of Countersign what its package exports, on the real API server and kubelets.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { allowRequesters, createCsr, waitForCondition } from '../support/cluster/requests/csr.ts';
import { apply } from '../support/cluster/apply.ts';
import {
  applyCaSecret,
  issuerSpec,
  requireBoth,
  startLibrarySigner,
  untilReadyIs,
  type SignerWanted,
} from '../support/cluster/library-signer.ts';
import { packOutsider, type Outsider, type Program } from '../support/cluster/npm-package.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';

const NAMESPACE = 'team-library';

let cluster: Cluster;
let outsider: Outsider;
const programs: Program[] = [];

before(async () => {
  outsider = packOutsider([
    'examples/key-on-disk.ts',
    'test/npm-consumer/signer.ts',
    'test/npm-consumer/package.json',
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

async function start(wanted: SignerWanted): Promise<Program> {
  const program = await startLibrarySigner(cluster, outsider, wanted);
  programs.push(program);
  return program;
}

test('a library signer signs a CSR and a pod by its own Secret, CRD and roles', async () => {
  const ca = await selfSignedCa('Outsider CA');
  const signerName = 'outsiders.outside.example.com/mine';
  const program = await start({
    program: 'signer.ts',
    signerName,
    crd: 'outsiders.outside.example.com',
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
  await applyCaSecret(cluster, { namespace: 'outsider-keys', name: 'outsider-ca', signerName }, ca);
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
  const ca = await selfSignedCa('Disk CA');
  const folder = join(outsider.directory, 'ca/blue');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tls.crt'), ca.certificate);
  writeFileSync(join(folder, 'tls.key'), ca.key, { mode: 0o600 });
  const signerName = 'diskissuers.disk.example.com/blue';
  await start({
    program: 'key-on-disk.ts',
    signerName,
    crd: 'diskissuers.disk.example.com',
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
