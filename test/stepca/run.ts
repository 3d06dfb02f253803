// SPDX-License-Identifier: Apache-2.0
/**
 * examples/step-ca.ts as an outsider has it, with a real step-ca server, on a real cluster: that it
 * signs, and what it makes of each thing that goes wrong there.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import {
  allowRequesters,
  conditionOf,
  createCsr,
  waitForCertificate,
  waitForCondition,
} from '../support/cluster/requests/csr.ts';
import { apply } from '../support/cluster/apply.ts';
import {
  certificateOfPerson,
  issuerSpec,
  requireBoth,
  startLibrarySigner,
  untilReadyIs,
} from '../support/cluster/library-signer.ts';
import { packOutsider, type Outsider, type Program } from '../support/cluster/npm-package.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { prepareStepCa, type StepCa } from './server.ts';

const SIGNER_NAME = 'stepissuers.step.example.com/blue';
const NAMESPACE = 'team-step';
const ISSUER = ['stepissuers', 'blue'] as const;

let cluster: Cluster;
let outsider: Outsider;
let program: Program;
let directory: string;
let step: StepCa;

before(async () => {
  directory = makeDirectory();
  step = await prepareStepCa(directory);
  outsider = packOutsider(['examples/step-ca.ts', 'test/npm-consumer/package.json']);
  cluster = await startCluster({ version: '1.37' });
  await allowRequesters(cluster);
  await createTeam(cluster, NAMESPACE, ['web']);
  program = await startLibrarySigner(cluster, outsider, {
    program: 'step-ca.ts',
    signerName: SIGNER_NAME,
    crd: 'stepissuers.step.example.com',
    namespaces: ['step-signer', 'step-keys'],
  });
  await applySecret(step.jwk);
  const { url, provisioner } = step;
  await apply(cluster, {
    apiVersion: 'step.example.com/v1',
    kind: 'StepIssuer',
    metadata: { name: 'blue' },
    spec: issuerSpec({ url, provisioner, secret: 'step-ca' }, { profile: { maxDuration: '72h' } }),
  });
});
after(async () => {
  await program.stop();
  await step.stop();
  await cluster.stop();
  outsider.remove();
  removeDirectory(directory);
});

function applySecret(jwk: object): Promise<void> {
  return apply(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'step-ca',
      namespace: 'step-keys',
      annotations: { 'countersign.dev/signer-name': SIGNER_NAME },
    },
    stringData: { 'ca.crt': step.root, 'provisioner.jwk': JSON.stringify(jwk) },
  });
}

async function approvedCsr(expirationSeconds: number): Promise<string> {
  const name = await createCsr(cluster, { signerName: SIGNER_NAME, expirationSeconds });
  await cluster.kubectl(['certificate', 'approve', name]);
  return name;
}

const HOUR = 3600;

test('while step-ca is down the issuer is not Ready and says so, and requests wait', async () => {
  const message = await untilReadyIs(cluster, ISSUER, 'Pending');
  assert.match(message, /step-ca cannot be asked: .*ECONNREFUSED/);
  const name = await approvedCsr(HOUR);
  assert.equal(await conditionOf(cluster, name, 'Failed'), undefined);
  await step.start();
  await untilReadyIs(cluster, ISSUER, 'Checked');
  await waitForCertificate(cluster, name);
});

test('step-ca issues certificates of a CSR and a pod with the exact names and usages', async () => {
  // A day: step-ca's own limit, less than the profile's.
  const [leaf] = await certificateOfPerson(cluster, SIGNER_NAME, HOUR);
  assert.ok(leaf);
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom), HOUR * 1000);
  await requireBoth(cluster, SIGNER_NAME, { namespace: NAMESPACE, name: 'web' }, step.root);
});

test('a request that step-ca refuses is Failed at once with its message', async () => {
  const name = await approvedCsr(48 * HOUR);
  const { reason, message } = await waitForCondition(cluster, name, 'Failed');
  assert.equal(reason, 'PermanentError');
  assert.match(message, /^step-ca: 403: .*duration/);
  await untilReadyIs(cluster, ISSUER, 'Checked');
});

test('a wrong provisioner key makes the issuer unready, and requests wait for a fix', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kid } = step.jwk as { readonly kid?: string };
  await applySecret({ ...privateKey.export({ format: 'jwk' }), kid });
  await touch('wrong-key');
  const name = await approvedCsr(HOUR);
  assert.match(await untilReadyIs(cluster, ISSUER, 'Pending'), /step-ca: 401/);
  assert.equal(await conditionOf(cluster, name, 'Failed'), undefined);
  await applySecret(step.jwk);
  await waitForCertificate(cluster, name);
});

test('step-ca goes down during a request and comes back: no request is lost', async () => {
  await untilReadyIs(cluster, ISSUER, 'Checked');
  await step.stop();
  const name = await approvedCsr(HOUR);
  assert.match(await untilReadyIs(cluster, ISSUER, 'Pending'), /step-ca cannot be asked/);
  await step.start();
  await waitForCertificate(cluster, name);
});

/** An annotation is a reason to check the issuer: its Secret is read again. */
async function touch(value: string): Promise<void> {
  await cluster.kubectl(['annotate', ...ISSUER, '--overwrite', `test=${value}`]);
}
