// SPDX-License-Identifier: Apache-2.0
/** What nobody can do by a Signer. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import {
  approvedRequest,
  asRequester,
  createCertificateRequest,
  decideOn,
  readyOf,
  waitForReadyReason,
} from '../../support/cluster/requests/certificate-request.ts';
import {
  conditionOf,
  getCsr,
  waitForCertificate,
  waitForCondition,
} from '../../support/cluster/requests/csr.ts';
import { example } from '../../support/cluster/fixture.ts';
import {
  requestsOf,
  waitForRequest,
} from '../../support/cluster/requests/pod-certificate-request.ts';
import { createTeam } from '../../support/cluster/pods.ts';
import {
  applyTeamCa,
  applyTeamSigner,
  getTeamSigner,
  signerObject,
  waitForTeamSigner,
} from '../../support/cluster/namespaced-signers.ts';
import { SIGNER_NAME, SOON, isOf, issuerRef, leafOf, theStand, type Stand } from './stand.ts';
import { apply } from '../../support/cluster/apply.ts';

let stand: Stand;
let cluster: Cluster;
before(async () => {
  stand = await theStand();
  ({ cluster } = stand);
});

test('a Secret that consents to another Signer, or to none, is not used', async () => {
  const place = { namespace: 'team-a', name: 'other' };
  await applyTeamSigner(cluster, place);
  const { message } = await waitForTeamSigner(cluster, place, 'SecretNotGranted');
  assert.match(message, /signer-name: signers\.countersign\.dev\/team-a\.other/);
  const csr = await stand.createCsr('signers.countersign.dev/team-a.other');
  await waitForCondition(cluster, csr, 'Approved');
  await stand.noted(csr, 'AuthorityMissing');
  assert.equal((await getCsr(cluster, csr)).status?.certificate, undefined);
  await stand.everybodyIsReady();
});

test('a Signer cannot use another namespace’s Secret, nor can that Secret consent', async () => {
  const place = { namespace: 'team-b', name: 'web' };
  const authority = { secret: { namespace: 'team-a', name: 'team-ca' } };
  const input = JSON.stringify(signerObject(place, { authority }));
  const strict = ['apply', '-f', '-', '--validate=strict'];
  const { code, stderr } = await cluster.kubectl(strict, { input, allowFailure: true });
  assert.notEqual(code, 0);
  assert.match(stderr, /unknown field "spec\.authority\.secret\.namespace"/);
  // team-b cannot read team-a's key; all it can do is to copy the words of its consent.
  await applyTeamCa(cluster, { namespace: 'team-b', name: 'team-ca', consentsTo: SIGNER_NAME });
  await cluster.kubectl(['apply', '-f', '-', '--validate=ignore'], { input });
  const { message } = await waitForTeamSigner(cluster, place, 'SecretNotGranted');
  assert.match(message, /Secret team-b\/team-ca does not grant/);
});

test('a Signer cannot claim the signer name of a ClusterSigner, nor a name with dots', async () => {
  const people = example('people');
  const claim = {
    ...people,
    metadata: { name: 'claim' },
    spec: { ...people.spec, signerName: SIGNER_NAME },
  };
  const options = { input: JSON.stringify(claim), allowFailure: true };
  const { code, stderr } = await cluster.kubectl(['create', '-f', '-'], options);
  assert.notEqual(code, 0);
  assert.match(stderr, /is in a domain reserved for the derived names of Signers/);
  await createTeam(cluster, 'team', ['web']);
  const dotted = { namespace: 'team', name: 'a.web' };
  await applyTeamSigner(cluster, dotted);
  await waitForTeamSigner(cluster, dotted, 'AuthorityUnavailable');
  const { status } = await getTeamSigner(cluster, dotted);
  assert.equal(status?.signerName, 'signers.countersign.dev/team.a.web');
});

test('no rule of a team grants a name of Kubernetes or a CA certificate', async () => {
  const masters = await stand.createCsr(SIGNER_NAME, ['system:masters']);
  const { reason } = await waitForCondition(cluster, masters, 'Denied');
  assert.equal(reason, 'ReservedSubject');
  const [ca, node] = await Promise.all([
    approvedRequest(cluster, { issuerRef: issuerRef(), isCA: true }),
    approvedRequest(cluster, { issuerRef: issuerRef(), commonName: 'system:node:node-1' }),
  ]);
  for (const [key, says] of [
    [ca, /^CertificateAuthority/],
    [node, /^ReservedSubject/],
  ] as const) {
    const request = await waitForReadyReason(cluster, key, 'Failed');
    assert.match(readyOf(request)?.message ?? '', says);
  }
  const place = { namespace: 'team-a', name: 'grasping' };
  const signerName = 'signers.countersign.dev/team-a.grasping';
  // By the other team's own hand: its CA, its consent, its rule.
  await cluster.kubectl([
    'annotate',
    'secret',
    'team-ca',
    '-n',
    'team-b',
    '--overwrite',
    'countersign.dev/signer-name=signers.countersign.dev/team-b.grasping',
  ]);
  await applyTeamSigner(
    cluster,
    { ...place, namespace: 'team-b' },
    { pods: { allow: 'true', commonName: "'system:node:' + pod.node" } },
  );
  await waitForTeamSigner(cluster, { ...place, namespace: 'team-b' }, 'Checked');
  await stand.createPod('team-b', 'grasping', signerName.replace('team-a', 'team-b'));
  assert.match(await stand.noted('grasping', 'NameReserved', 'team-b'), /system:node:node-1/);
  const [request] = await requestsOf(cluster, 'team-b', 'grasping');
  assert.equal(request?.status?.conditions, undefined);
});

test('all verbs on the Signers of a namespace do not include their status', async () => {
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'owner' };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  const metadata = { namespace: 'team-a', name: 'owner' };
  const rules = [{ apiGroups: ['countersign.dev'], resources: ['*'], verbs: ['*'] }];
  const subjects = [{ apiGroup: role.apiGroup, kind: 'User', name: 'owner' }];
  const items = [
    { ...rbac, kind: 'Role', metadata, rules },
    { ...rbac, kind: 'RoleBinding', metadata, roleRef: role, subjects },
  ];
  const list = { apiVersion: 'v1', kind: 'List', items };
  await apply(cluster, list);
  const patch = JSON.stringify({ status: { observedGeneration: 99 } });
  const { code, stderr } = await cluster.kubectl(
    [
      'patch',
      'signer',
      'web',
      '-n',
      'team-a',
      '--subresource=status',
      '--type=merge',
      '-p',
      patch,
      '--as',
      'owner',
    ],
    { allowFailure: true },
  );
  assert.notEqual(code, 0);
  assert.match(stderr, /may not attest for signers\.countersign\.dev\/team-a\.web/);
});

test('a CertificateRequest status writer cannot approve without approve on the Signer', async () => {
  const key = await createCertificateRequest(cluster, { issuerRef: issuerRef() });
  await assert.rejects(
    decideOn(cluster, key, 'Approved', asRequester()),
    /may not approve or deny .*Signer web.* signers\.cert-manager\.io signers\.countersign\.dev\/team-a\.web/,
  );
  await allowApproval('signers.countersign.dev/team-a.web');
  await until('the grant is heard', SOON, async () => {
    await decideOn(cluster, key, 'Approved', asRequester());
    return true;
  });
  await waitForReadyReason(cluster, key, 'Issued');
});

test('a deleted Signer answers nothing; recreated, it answers only its own namespace', async () => {
  const place = { namespace: 'team-d', name: 'web' };
  const signerName = 'signers.countersign.dev/team-d.web';
  // There is no Secret yet: whatever is asked waits.
  await applyTeamSigner(cluster, place);
  await waitForTeamSigner(cluster, place, 'SecretNotFound');
  await stand.createPod('team-d', 'waits', signerName);
  const csr = await stand.createCsr(signerName);
  await waitForCondition(cluster, csr, 'Approved');
  await stand.noted(csr, 'AuthorityMissing');
  await cluster.kubectl(['delete', 'signer', 'web', '-n', 'team-d']);
  await applyTeamCa(cluster, { namespace: 'team-d', name: 'team-ca', consentsTo: signerName });
  await stand.createPod('team-a', 'meanwhile');
  await waitForRequest(cluster, 'team-a', 'meanwhile', 'Issued');
  assert.equal((await getCsr(cluster, csr)).status?.certificate, undefined);
  await afterItsGrace(csr);
  await applyTeamSigner(cluster, place);
  await waitForTeamSigner(cluster, place, 'Checked');
  await waitForRequest(cluster, 'team-d', 'waits', 'Issued');
  assert.match(await stand.noted(csr, 'OlderThanSigner'), /create a new request/);
  assert.equal((await getCsr(cluster, csr)).status?.certificate, undefined);
});

/** Five seconds are forgiven to the clocks of several API servers. */
async function afterItsGrace(csr: string): Promise<void> {
  const { metadata } = await getCsr(cluster, csr);
  const over = Date.parse(metadata.creationTimestamp) + 7_000;
  await until('the grace is over', SOON, () => Date.now() > over);
}

test('a recreated namespace gets no certificate that was approved for the one before', async () => {
  const place = { namespace: 'team-d', name: 'web' };
  const signerName = 'signers.countersign.dev/team-d.web';
  await cluster.kubectl(['delete', 'secret', 'team-ca', '-n', 'team-d']);
  await waitForTeamSigner(cluster, place, 'SecretNotFound');
  const old = await stand.createCsr(signerName);
  await waitForCondition(cluster, old, 'Approved');
  await cluster.kubectl(['delete', 'namespace', 'team-d', '--timeout=120s']);
  await afterItsGrace(old);
  await createTeam(cluster, 'team-d', ['web']);
  const { certificate } = await applyTeamCa(cluster, {
    namespace: 'team-d',
    name: 'team-ca',
    consentsTo: signerName,
  });
  await applyTeamSigner(cluster, place);
  // The grant went with the namespace: the new team's key is not read before somebody says so.
  await waitForTeamSigner(cluster, place, 'AuthorityUnavailable');
  await stand.applyRoles();
  await waitForTeamSigner(cluster, place, 'Checked');
  const fresh = await stand.createCsr(signerName);
  assert.ok(isOf(leafOf(await waitForCertificate(cluster, fresh)), certificate));
  await stand.noted(old, 'OlderThanSigner');
  assert.equal((await getCsr(cluster, old)).status?.certificate, undefined);
  // A person's approval lifts it no more than a rule's.
  const pending = await conditionOf(cluster, old, 'Approved');
  assert.equal(pending?.reason, 'ApprovedByRule');
  await cluster.kubectl(['certificate', 'approve', old]);
  assert.equal((await getCsr(cluster, old)).status?.certificate, undefined);
});

/** cert-manager's `signers` is a name for RBAC alone: no API server lists it. */
async function allowApproval(issuer: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const rbac = { apiVersion: `${group}/v1`, metadata: { name: 'approves-team-a' } };
  const rule = {
    apiGroups: ['cert-manager.io'],
    resources: ['signers'],
    resourceNames: [issuer],
    verbs: ['approve'],
  };
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'approves-team-a' };
  const subjects = [{ apiGroup: group, kind: 'Group', name: 'dev' }];
  const items = [
    { ...rbac, kind: 'ClusterRole', rules: [rule] },
    { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects },
  ];
  const list = { apiVersion: 'v1', kind: 'List', items };
  await apply(cluster, list);
}
