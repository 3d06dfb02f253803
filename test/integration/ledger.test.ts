// SPDX-License-Identifier: Apache-2.0
/**
 * Nothing issued is missing in the ledger, and nobody appends what is not theirs: on the real API
 * server.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import type { ConfigMap, Secret } from '#api/object/object.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { issueLeaf } from '#trust/authority/own-tls/issue.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { random } from '../support/ca/issuing.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import {
  getSigner,
  startFixture,
  waitForSignerCondition,
  type Fixture,
} from '../support/cluster/fixture.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';
import {
  allowRequesters,
  createCsr,
  getCsr,
  waitForCertificate,
} from '../support/cluster/requests/csr.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { issuedRecord } from '../support/ledger/records.ts';
import { LedgerStand } from './ledger/stand.ts';

const PATIENCE = 120_000;

let fixture: Fixture;
let stand: LedgerStand;
let ledger: ComponentProcess;
let signer: ComponentProcess;
let issuer: ComponentProcess;

before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'] });
  const { cluster } = fixture;
  stand = await LedgerStand.create(cluster);
  ledger = await stand.startLedger();
  signer = await stand.start('signer', '--ledger-mode', 'required');
  await stand.start('approver', '--ledger-mode', 'required');
  issuer = await stand.start('pcr-issuer', '--ledger-mode', 'required');
  await allowRequesters(cluster);
  await createTeam(cluster, 'team-a', ['web']);
});

after(async () => {
  await stand.stop();
  await fixture.stop();
});

function derOf(pem: string): string {
  return new X509Certificate(pem).raw.toString('base64');
}

/** The kinds of the records of a request, once its result is there. */
async function recordedKinds(uid: string): Promise<readonly string[]> {
  return until(`the records of ${uid} are there`, PATIENCE, async () => {
    const all = await stand.all();
    const own = all.filter((each) => 'request' in each && each.request.uid === uid);
    const keys = new Set(own.map(({ key }) => key));
    const results = all.filter((each) => each.kind === 'result' && keys.has(each.of));
    return results.length > 0 && [...own, ...results].map(({ kind }) => kind);
  });
}

test('a CSR has the record of its approval, of its certificate, and of its delivery', async () => {
  const name = await createCsr(fixture.cluster);
  const pem = await waitForCertificate(fixture.cluster, name);
  const { uid } = (await getCsr(fixture.cluster, name)).metadata;
  assert.deepEqual(await recordedKinds(uid), ['approved', 'issued', 'result']);
  const [approved, issued] = await stand.recordsOf(uid);
  assert.ok(approved?.kind === 'approved' && issued?.kind === 'issued');
  assert.equal(issued.certificate, derOf(pem));
  assert.equal(issued.requester.user?.username, 'jane');
  assert.ok(issued.requester.user.groups?.includes('dev'));
  assert.equal(approved.component.name, 'approver');
  assert.ok(approved.decision?.rule !== undefined);
});

test('a pod’s certificate has its record, which names the pod and its node', async () => {
  const wanted = { namespace: 'team-a', name: 'recorded', serviceAccount: 'web', node: 'node-1' };
  const of = { signerName: 'example.com/workload', keyType: 'ED25519' };
  await createPod(fixture.cluster, { ...wanted, ...of });
  const request = await waitForRequest(fixture.cluster, 'team-a', 'recorded', 'Issued');
  const { uid } = request.metadata;
  assert.deepEqual(await recordedKinds(uid), ['issued', 'result']);
  const [issued] = await stand.recordsOf(uid);
  assert.ok(issued?.kind === 'issued');
  assert.equal(issued.certificate, derOf(request.status?.certificateChain ?? ''));
  assert.deepEqual(issued.requester.pod, {
    namespace: 'team-a',
    name: 'recorded',
    uid: request.spec.podUID,
  });
  assert.equal(issued.requester.node?.uid, request.spec.nodeUID);
});

test('a checkpoint of what was appended is published', async () => {
  const get = ['get', 'configmap', 'countersign-ledger-checkpoints', '-n', 'countersign-system'];
  await until('a checkpoint is there', PATIENCE, async () => {
    const { stdout } = await fixture.cluster.kubectl([...get, '-o', 'json']);
    const { data = {} } = JSON.parse(stdout) as { data?: Record<string, string> };
    return /^countersign\.local\/ledger\/\d{4}\n\d+\n/.test(data['log-1'] ?? '') && 'logs' in data;
  });
});

test('authority records the CAs, and never waits for the ledger', async () => {
  await fixture.installation.components.authority.stop();
  await stand.start('authority', '--ledger-mode', 'required');
  const signers = await Promise.all(
    ['workload', 'people'].map((name) => getSigner(fixture.cluster, name)),
  );
  const prints = signers.flatMap(({ status }) =>
    (status?.authorities ?? []).map(({ fingerprint }) => fingerprint),
  );
  await until('each CA has its record', PATIENCE, async () => {
    const recorded = (await stand.all()).flatMap((each) =>
      each.kind === 'authority' && each.purpose === 'ca' ? [each.ca] : [],
    );
    return prints.length === 2 && prints.every((print) => recorded.includes(print));
  });
});

test('only a certificate of the CA’s key without a record raises an alarm', async () => {
  const { cluster } = fixture;
  const get = ['get', 'secret', 'workload-ca', '-n', 'countersign-keys', '-o', 'json'];
  const stolen = JSON.parse((await cluster.kubectl(get)).stdout) as Secret;
  const now = Date.now();
  const desired = {
    keyType: 'ECDSAP256',
    dnsNames: ['thief.example'],
    durationSeconds: 30 * 24 * 3_600,
    backdateSeconds: 60,
  } as const;
  const ca = openLocalAuthority(materialOf(stolen), now);
  const { certificate } = await issueLeaf(ca, desired, { random, now });
  const { serialNumber } = new X509Certificate(certificate);
  const data = { 'seen-at-the-proxy.pem': certificate };
  await cluster.kubectl([
    'patch',
    'configmap',
    'countersign-ledger-uploads',
    '-n',
    'countersign-system',
    '--type',
    'merge',
    '-p',
    JSON.stringify({ data }),
  ]);
  const condition = await waitForSignerCondition(cluster, 'workload', {
    type: 'UnrecordedCertificate',
    reason: 'Found',
  });
  assert.equal(condition.status, 'True');
  assert.ok(condition.message?.includes(serialNumber.toLowerCase()));
  await waitForSignerCondition(cluster, 'people', {
    type: 'UnrecordedCertificate',
    reason: 'NoneFound',
  });
  const { stdout } = await cluster.kubectl([
    'get',
    'configmap',
    'countersign-ledger-findings',
    '-n',
    'countersign-system',
    '-o',
    'json',
  ]);
  const found = Object.keys((JSON.parse(stdout) as ConfigMap).data ?? {});
  assert.equal(found.filter((name) => name.startsWith('unrecorded-')).length, 1);
  assert.match(await ledger.metrics(), /^countersign_ledger_unrecorded_certificates\{[^}]*\} 1$/m);
  const events = await cluster.kubectl(['get', 'events', '-n', 'default', '-o', 'json']);
  assert.ok(events.stdout.includes('"reason": "UnrecordedCertificate"'));
});

test('a pod’s certificate without a record is an alarm that names its request', async () => {
  const { cluster } = fixture;
  await issuer.stop();
  const silent = await stand.start('pcr-issuer', '--ledger-mode', 'off');
  const wanted = { namespace: 'team-a', name: 'silent', serviceAccount: 'web', node: 'node-1' };
  const of = { signerName: 'example.com/workload', keyType: 'ED25519' };
  await createPod(cluster, { ...wanted, ...of });
  const { metadata } = await waitForRequest(cluster, 'team-a', 'silent', 'Issued');
  await silent.stop();
  issuer = await stand.start('pcr-issuer', '--ledger-mode', 'required');
  const seenIn = `PodCertificateRequest team-a/${metadata.name}`;
  await until('the alarm names the request', PATIENCE, async () => {
    const get = ['get', 'configmap', 'countersign-ledger-findings', '-n', 'countersign-system'];
    return (await cluster.kubectl([...get, '-o', 'json'])).stdout.includes(seenIn);
  });
});

/** A record of the signer, as it would send it. */
function forged(key: string, signerName = 'example.com/people'): ReturnType<typeof issuedRecord> {
  const component = { name: 'signer', version: '0.1.0', replica: 'signer-0' };
  return issuedRecord(1, { key, component, signer: { name: signerName } });
}

test('a component appends about its signers, and as nobody else', async () => {
  const token = await stand.token('countersign-signer');
  const before = (await stand.all()).length;
  const records = [
    forged('signer/other-ca', 'example.com/not-listed'),
    forged('pcr-issuer/other-key'),
    { ...forged('signer/as-another'), component: issuedRecord(1).component },
  ];
  assert.deepEqual(await stand.append(token, ...records), Array(3).fill('LEDGER_REFUSED'));
  const other = await stand.token('countersign-pcr-issuer');
  assert.deepEqual(await stand.append(other, forged('signer/forged')), ['LEDGER_REFUSED']);
  assert.equal((await stand.all()).length, before);
});

const strangers: [law: string, token: () => Promise<string>][] = [
  ['a token for another audience', () => stand.token('countersign-signer', 'elsewhere.example')],
  [
    'a token for the API server',
    () => stand.token('countersign-signer', 'https://kubernetes.default.svc'),
  ],
  ['a component that records nothing', () => stand.token('countersign-attester')],
  ['another ServiceAccount', () => stand.token('default')],
  ['no token', () => Promise.resolve('nobody')],
];

for (const [law, token] of strangers) {
  test(`appends nothing: ${law}`, async () => {
    const before = (await stand.all()).length;
    const sent = stand.append(await token(), forged('signer/stranger'));
    await assert.rejects(sent, /\(HTTP 40[13]\)/);
    assert.equal((await stand.all()).length, before);
  });
}

/** Names of new CSRs. */
async function csrs(count: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (let n = 0; n < count; n += 1) names.push(await createCsr(fixture.cluster));
  return names;
}

test('required: nothing is issued without the ledger; then each gets one record', async () => {
  await ledger.kill();
  const names = await csrs(4);
  await until('the approver says that it waits', PATIENCE, async () => {
    const { stdout } = await fixture.cluster.kubectl(['get', 'events', '-A', '-o', 'json']);
    return stdout.includes('LedgerUnavailable');
  });
  for (const name of names) {
    const { status } = await getCsr(fixture.cluster, name);
    assert.deepEqual([status?.certificate, status?.conditions], [undefined, undefined]);
  }
  ledger = await stand.startLedger();
  for (const name of names) {
    const pem = await waitForCertificate(fixture.cluster, name);
    const { uid } = (await getCsr(fixture.cluster, name)).metadata;
    assert.deepEqual(await recordedKinds(uid), ['approved', 'issued', 'result']);
    const issued = (await stand.recordsOf(uid)).find(({ kind }) => kind === 'issued');
    assert.ok(issued?.kind === 'issued' && issued.certificate === derOf(pem));
  }
  const report = await stand.read((store) => store.verify([]));
  assert.deepEqual(report.findings, []);
});

test('best-effort: certificates do not wait, and what was lost is counted exactly', async () => {
  await signer.stop();
  signer = await stand.start('signer', '--ledger-mode', 'best-effort', '--ledger-waiting', '3');
  await signer.ready();
  await ledger.kill();
  const names = await csrs(4);
  // The approver waits for the ledger: a person does not.
  for (const name of names) await fixture.cluster.kubectl(['certificate', 'approve', name]);
  for (const name of names) await waitForCertificate(fixture.cluster, name);
  ledger = await stand.startLedger();
  const uids = await Promise.all(
    names.map(async (name) => (await getCsr(fixture.cluster, name)).metadata.uid),
  );
  await until('every record is kept or counted', PATIENCE, async () => {
    const all = (await stand.all()).filter(({ component: { name } }) => name === 'signer');
    const own = all.filter(({ key }) => uids.some((uid) => key.includes(uid)));
    const lost = all.reduce((sum, each) => sum + (each.kind === 'gap' ? each.lost : 0), 0);
    const text = await signer.metrics();
    const [, counted] = /^countersign_ledger_lost_records\{[^}]*\} (\d+)/m.exec(text) ?? [];
    return own.length + lost === 2 * uids.length && lost > 0 && Number(counted) === lost;
  });
});
