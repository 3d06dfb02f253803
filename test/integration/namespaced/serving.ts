// SPDX-License-Identifier: Apache-2.0
/** Whom a Signer answers, and that what is wrong with one is nobody else's matter. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { componentCalls, outsideRoles } from '../../support/cluster/audit.ts';
import {
  approvedRequest,
  getCertificateRequest,
  readyOf,
  waitForReadyReason,
} from '../../support/cluster/requests/certificate-request.ts';
import {
  createCsr,
  getCsr,
  waitForCertificate,
  waitForCondition,
} from '../../support/cluster/requests/csr.ts';
import { applySigner, example, waitForReady } from '../../support/cluster/fixture.ts';
import { grantClientCa } from '../../support/cluster/installation.ts';
import {
  requestsOf,
  waitForRequest,
} from '../../support/cluster/requests/pod-certificate-request.ts';
import { filesOf } from '../../support/cluster/pods.ts';
import {
  applyTeamCa,
  applyTeamSigner,
  getTeamSigner,
  waitForTeamSigner,
} from '../../support/cluster/namespaced-signers.ts';
import { SIGNER_NAME, SOON, WEB, isOf, issuerRef, leafOf, theStand, type Stand } from './stand.ts';

let stand: Stand;
let cluster: Cluster;
before(async () => {
  stand = await theStand();
  ({ cluster } = stand);
});

/** PEM of team-a's CA. */
let teamCa: string;
const pem = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

let early: { readonly csr: string; readonly request: string };

test('without the opt-in no Signer is served, read or reported', async () => {
  await stand.start();
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  await applySigner(cluster, example('people'));
  await waitForReady(cluster, 'people', 'Checked');
  ({ certificate: teamCa } = await applyTeamCa(cluster, {
    namespace: 'team-a',
    name: 'team-ca',
    consentsTo: SIGNER_NAME,
  }));
  await applyTeamSigner(cluster, WEB);
  await stand.createPod('team-a', 'early');
  const csr = await stand.createCsr();
  early = { csr, request: await approvedRequest(cluster, { issuerRef: issuerRef() }) };
  await waitForCertificate(cluster, await createCsr(cluster));
  assert.equal((await getTeamSigner(cluster, WEB)).status, undefined);
  assert.deepEqual((await getCsr(cluster, csr)).status, {});
  assert.equal(readyOf(await getCertificateRequest(cluster, early.request)), undefined);
  const [request] = await until('the kubelet asks', SOON, async () => {
    const found = await requestsOf(cluster, 'team-a', 'early');
    return found.length > 0 && found;
  });
  assert.equal(request?.status?.conditions, undefined);
  const calls = await componentCalls(cluster);
  assert.deepEqual(
    calls.filter(({ objectRef }) => objectRef?.resource === 'signers'),
    [],
  );
  assert.deepEqual(outsideRoles(calls), []);
  await stand.stopComponents();
});

test('with the opt-in a Signer is Ready, shows its name and answers pending requests', async () => {
  await stand.applyRoles();
  await stand.start(['--namespaced-signers']);
  await waitForTeamSigner(cluster, WEB, 'Checked');
  const { stdout } = await cluster.kubectl(['get', 'signers', '-n', 'team-a']);
  assert.match(stdout, /^NAME +SIGNER +READY +REASON +CA EXPIRES +AGE\n/);
  assert.match(stdout, /^web +signers\.countersign\.dev\/team-a\.web +True +Checked +2/m);
  await Promise.all(stand.components().map((each) => each.ready(SOON)));
  await waitForRequest(cluster, 'team-a', 'early', 'Issued');
  await waitForCertificate(cluster, early.csr);
  await waitForReadyReason(cluster, early.request, 'Issued');
});

test('a pod of its namespace gets a credential from the team’s CA', async () => {
  await stand.createPod('team-a', 'web');
  const request = await waitForRequest(cluster, 'team-a', 'web', 'Issued');
  const leaf = leafOf(request.status?.certificateChain ?? '');
  assert.equal(leaf.subjectAltName, 'DNS:web.team-a.svc');
  assert.ok(isOf(leaf, teamCa) && !leaf.ca);
  await filesOf(cluster, { namespace: 'team-a', name: 'web' });
});

test('a person’s request is approved by its rules and signed', async () => {
  const csr = await stand.createCsr();
  const { reason } = await waitForCondition(cluster, csr, 'Approved');
  assert.equal(reason, 'ApprovedByRule');
  const leaf = leafOf(await waitForCertificate(cluster, csr));
  assert.ok(isOf(leaf, teamCa));
  assert.equal(leaf.subject, 'CN=jane');
});

test('a CertificateRequest of its namespace is signed, with the team’s CA as its ca', async () => {
  const key = await approvedRequest(cluster, { issuerRef: issuerRef() });
  const { status } = await waitForReadyReason(cluster, key, 'Issued');
  assert.ok(isOf(leafOf(pem(status?.certificate)), teamCa));
  assert.equal(pem(status?.ca), teamCa);
});

test('requests of another namespace are left untouched, whatever they name', async () => {
  await stand.createPod('team-b', 'foreign');
  const foreign = await approvedRequest(cluster, { namespace: 'team-b', issuerRef: issuerRef() });
  await until('the kubelet asks', SOON, async () => {
    const asked = await requestsOf(cluster, 'team-b', 'foreign');
    return asked.length > 0;
  });
  // Afterwards, and of the same kinds: by then those others would have been looked at.
  await stand.createPod('team-a', 'afterwards');
  await waitForRequest(cluster, 'team-a', 'afterwards', 'Issued');
  const own = await approvedRequest(cluster, { issuerRef: issuerRef() });
  await waitForReadyReason(cluster, own, 'Issued');
  const [request] = await requestsOf(cluster, 'team-b', 'foreign');
  assert.equal(request?.status?.conditions, undefined);
  const { status } = await getCertificateRequest(cluster, foreign);
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['Approved'],
  );
});

test('an unreadable Secret is reported, never requested, and leaves /readyz at 200', async () => {
  const place = { namespace: 'team-c', name: 'web' };
  await applyTeamCa(cluster, {
    namespace: 'team-c',
    name: 'team-ca',
    consentsTo: 'signers.countersign.dev/team-c.web',
  });
  await applyTeamSigner(cluster, place);
  const { message } = await waitForTeamSigner(cluster, place, 'AuthorityUnavailable');
  assert.match(message, /was not granted .*--signer-secret team-c\/team-ca/);
  await stand.everybodyIsReady();
  const calls = await componentCalls(cluster);
  assert.deepEqual(
    calls.filter(({ objectRef }) => objectRef?.namespace === 'team-c'),
    // Of that namespace nothing but its Signer's status is ever asked for.
    calls.filter(({ objectRef: at }) => at?.namespace === 'team-c' && at.resource === 'signers'),
  );
});

test('a Signer that does not compile says so in its status; /readyz stays at 200', async () => {
  const place = { namespace: 'team-a', name: 'faulty' };
  await applyTeamSigner(cluster, place, { pods: { allow: 'pod.', uris: ["'a://b'"] } });
  const { message } = await waitForTeamSigner(cluster, place, 'InvalidSpec');
  assert.match(message, /spec\.pods\.allow/);
  await stand.everybodyIsReady();
  await stand.createPod('team-a', 'beside-the-faulty');
  await waitForRequest(cluster, 'team-a', 'beside-the-faulty', 'Issued');
});
