// SPDX-License-Identifier: Apache-2.0
/**
 * Certificates of all three kinds of requests, revoked by what the ledger knows of them, in the
 * hands of verifiers of others: OpenSSL and Go. On a real API server, with the components as
 * processes.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { encodePem } from '#pki/der/pem.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { serialText } from '#ca/revocation/serial.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from '../../support/cluster/apply.ts';
import { countersign, type CommandResult } from '../../support/cluster/countersign.ts';
import { getSigner } from '../../support/cluster/fixture.ts';
import { createPod } from '../../support/cluster/pods.ts';
import {
  approvedRequest,
  waitForReadyReason,
} from '../../support/cluster/requests/certificate-request.ts';
import {
  createCsr,
  waitForCertificate,
  waitForCondition,
} from '../../support/cluster/requests/csr.ts';
import { waitForRequest } from '../../support/cluster/requests/pod-certificate-request.ts';
import { byGo, byOpenssl, type Judged } from './judges.ts';
import { startStage, type RevocationStage } from './stage.ts';

const PATIENCE = 120_000;
const SERVICES = ['web.team-a.svc'];

let stage: RevocationStage;
let cluster: Cluster;
before(async () => {
  stage = await startStage();
  ({ cluster } = stage);
});
after(() => stage.stop());

/** The anchors of a signer, and a leaf, as files. */
async function judged(signer: 'people' | 'workload', pem: string): Promise<Judged> {
  const { status } = await getSigner(cluster, signer);
  const [leaf] = readCertificates(pem);
  assert.ok(leaf !== undefined);
  const of = join(stage.directory, serialText(leaf.serial));
  const [roots, file] = [`${of}.roots`, `${of}.leaf`];
  writeFileSync(roots, (status?.authorities ?? []).map(({ anchors }) => anchors ?? '').join(''));
  writeFileSync(file, encodePem('CERTIFICATE', leaf.raw));
  return { roots, leaf: file };
}

/** Both refuse it within a while, and for no other reason. */
async function refused(leaf: Judged): Promise<void> {
  const opinions = await until('both see the next CRL', PATIENCE, async () => {
    const both = [await byOpenssl(leaf), await byGo(leaf)];
    return both.includes('OK') ? undefined : both;
  });
  assert.deepEqual(opinions, ['certificate revoked', 'revoked for the reason 1']);
}

async function accepted(leaf: Judged): Promise<void> {
  assert.deepEqual([await byOpenssl(leaf), await byGo(leaf)], ['OK', 'OK']);
}

function revoke(...flags: readonly string[]): Promise<CommandResult> {
  return countersign(['revoke', ...flags, '--kubeconfig', cluster.kubeconfig]);
}

/** The same once the ledger leads and answers. */
function answered(...flags: readonly string[]): Promise<CommandResult> {
  return until('the ledger answers', PATIENCE, async () => {
    const result = await revoke(...flags);
    return /the ledger is installed and does not answer/.test(result.stderr) ? undefined : result;
  });
}

/** Revokes for a stolen key. @returns what was printed, and the name of the one Revocation */
async function revoked(...flags: readonly string[]): Promise<{ text: string; name: string }> {
  const { code, stdout, stderr } = await answered(...flags, '--reason', 'keyCompromise');
  assert.equal(code, 0, stdout + stderr);
  const names = [...stdout.matchAll(/^revocation\.countersign\.dev\/(\S+) written/gm)];
  assert.equal(names.length, 1, stdout);
  const name = names[0]?.[1] ?? '';
  await until('a CRL lists it', PATIENCE, async () => {
    const { stdout: json } = await cluster.kubectl(['get', 'revocation', name, '-o', 'json']);
    const { status } = JSON.parse(json) as Revocation;
    return findCondition(status?.conditions, 'Listed')?.status === 'True';
  });
  return { text: stdout, name };
}

async function csrLeaf(): Promise<string> {
  return waitForCertificate(cluster, await createCsr(cluster));
}

const POD = {
  namespace: 'team-a',
  serviceAccount: 'web',
  node: 'node-1',
  signerName: 'example.com/workload',
  keyType: 'ED25519',
};

async function podLeaf(name: string): Promise<string> {
  await createPod(cluster, { ...POD, name });
  const { status } = await waitForRequest(cluster, 'team-a', name, 'Issued');
  return status?.certificateChain ?? '';
}

async function serviceLeaf(): Promise<string> {
  const key = await approvedRequest(cluster, { dnsNames: SERVICES });
  const { status } = await waitForReadyReason(cluster, key, 'Issued');
  return Buffer.from(status?.certificate ?? '', 'base64').toString();
}

let [person, pod, service]: Judged[] = [];

test('each request’s leaf names its CRL in the ledger, which OpenSSL and Go accept', async () => {
  person = await judged('people', await csrLeaf());
  pod = await judged('workload', await podLeaf('web-0'));
  service = await judged('workload', await serviceLeaf());
  for (const leaf of [person, pod, service]) {
    const [read] = readCertificates(readText(leaf.leaf));
    assert.ok(read !== undefined);
    await until('the ledger serves the CRL', PATIENCE, async () => (await byGo(leaf)) === 'OK');
    await accepted(leaf);
  }
});

test('what no object has any more is found by its record, and OpenSSL and Go refuse it', async () => {
  assert.ok(person !== undefined && pod !== undefined && service !== undefined);
  await cluster.kubectl(['delete', 'pod', 'web-0', '-n', 'team-a', '--wait=true']);
  await cluster.kubectl(['delete', 'podcertificaterequests', '--all', '-n', 'team-a']);
  await cluster.kubectl(['delete', 'csr', '--all']);
  await cluster.kubectl(['delete', 'certificaterequests', '--all', '-n', 'team-a']);
  const live = await revoke('--pod', 'team-a/web-0', '--source', 'live');
  assert.equal(live.code, 3, live.stdout);
  const named = await revoke('--pod', 'team-a/web-0', '--source', 'live', '-o', 'name');
  assert.deepEqual([named.code, named.stdout], [3, '']);
  assert.match(named.stderr, /^refused: /m);
  const plan = await answered('--pod', 'team-a/web-0', '--dry-run');
  assert.match(
    plan.stdout,
    /^ {2}example\.com\/workload {2}serial \S+ {2}until \S+ {2}\(record 1-\d+\)$/m,
  );
  assert.match(plan.stdout, /would be written \(dry run\): 1 certificate,/);
  await accepted(pod);
  await revoked('--pod', 'team-a/web-0');
  await refused(pod);
  await accepted(service);
  await revoked('--san', SERVICES[0] ?? '');
  await refused(service);
  await accepted(person);
  await revoked('--user', 'jane');
  await refused(person);
});

test('a Revocation refuses renewals of all three kinds; its end un-revokes nothing', async () => {
  assert.ok(person !== undefined);
  const again = await waitForCondition(cluster, await createCsr(cluster), 'Failed');
  assert.equal(again.reason, 'HolderRevoked');
  const asked = await approvedRequest(cluster, { dnsNames: SERVICES });
  const { status } = await waitForReadyReason(cluster, asked, 'Failed');
  assert.match(
    findCondition(status?.conditions, 'Ready')?.message ?? '',
    /^HolderRevoked: Revocation/,
  );
  await podRefused();
  const all = ['get', 'revocations', '-o', 'name'];
  const names = (await cluster.kubectl(all)).stdout.trim().split('\n');
  assert.equal(names.length, 4);
  await cluster.kubectl(['delete', ...names]);
  const next = await judged('people', await until('she is not refused', PATIENCE, anotherOfJane));
  await accepted(next);
  await refused(person);
});

/** A kubelet renews after half of a life, so another pod of the ServiceAccount asks. */
async function podRefused(): Promise<void> {
  await apply(cluster, {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name: 'account' },
    spec: {
      signerName: 'example.com/workload',
      reason: 'keyCompromise',
      certificates: [{ serial: 'a1' }],
      holders: [{ serviceAccount: { namespace: 'team-a', name: 'web' } }],
    },
  });
  await createPod(cluster, { ...POD, name: 'web-1' });
  const { status } = await waitForRequest(cluster, 'team-a', 'web-1', 'Denied');
  assert.equal(findCondition(status?.conditions, 'Denied')?.reason, 'HolderRevoked');
}

/** A watch takes a moment to hear that the Revocation is gone. */
async function anotherOfJane(): Promise<string | undefined> {
  const name = await createCsr(cluster);
  const ends = ['Failed', 'Approved'].map((type) => waitForCondition(cluster, name, type));
  await Promise.any(ends);
  const { stdout } = await cluster.kubectl([
    'get',
    'csr',
    name,
    '-o',
    'jsonpath={.status.certificate}',
  ]);
  return stdout === '' ? undefined : Buffer.from(stdout, 'base64').toString();
}

test('an unresponsive ledger is an error that says what to do, and nothing is written', async () => {
  await stage.ledger.kill();
  const { code, stdout, stderr } = await until('the API server notices', PATIENCE, async () => {
    const said = await revoke('--user', 'jane', '--dry-run');
    return said.code === 1 ? said : undefined;
  });
  assert.equal(code, 1, stdout);
  assert.match(stderr, /does not answer \(countersign check .*Nothing was written.*--source live/);
  const live = await revoke('--user', 'jane', '--source', 'live', '--dry-run');
  assert.equal(live.code, 0, live.stdout + live.stderr);
});

function readText(file: string): string {
  return readFileSync(file, 'utf8');
}
