// SPDX-License-Identifier: Apache-2.0
/** CertificateSigningRequests on the real API server: approver and signer side by side. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import {
  allowRequesters,
  conditionOf,
  createCsr,
  type CsrWanted,
  getCsr,
  requestPem,
  waitForCertificate,
  waitForCondition,
} from '../support/cluster/requests/csr.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
});
after(() => fixture.stop());

const HOUR = 3600;

async function seconds(wanted: CsrWanted): Promise<number> {
  const name = await createCsr(fixture.cluster, wanted);
  const leaf = new X509Certificate(await waitForCertificate(fixture.cluster, name));
  return (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 1000;
}

test('a request that a rule covers is approved with the rule’s name, and signed', async () => {
  const name = await createCsr(fixture.cluster, { usages: ['client auth'] });
  const leaf = new X509Certificate(await waitForCertificate(fixture.cluster, name));
  assert.equal(leaf.subject, 'O=dev\nCN=jane');
  assert.equal(leaf.subjectAltName, undefined);
  assert.equal(leaf.ca, false);
  // 1.3.6.1.5.5.7.3.2 is clientAuth (RFC 5280 §4.2.1.12).
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  const approved = await waitForCondition(fixture.cluster, name, 'Approved');
  assert.match(approved.message, /own-name/);
});

test('a requester with the shipped ClusterRole creates and reads requests only', async () => {
  const may = async (verb: string, resource: string): Promise<string> => {
    const args = ['auth', 'can-i', verb, resource, '--as=jane', '--as-group=dev'];
    const { stdout } = await fixture.cluster.kubectl(args, { allowFailure: true });
    return `${verb} ${stdout.trim()}`;
  };
  const csrs = 'certificatesigningrequests.certificates.k8s.io';
  const verbs = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete'];
  assert.deepEqual(await Promise.all(verbs.map((verb) => may(verb, csrs))), [
    'create yes',
    'get yes',
    'list yes',
    'watch yes',
    'update no',
    'patch no',
    'delete no',
  ]);
  assert.equal(await may('update', `${csrs}/approval`), 'update no');
});

test('expirationSeconds is granted up to the maximum of the profile', async () => {
  assert.equal(await seconds({ expirationSeconds: HOUR }), HOUR);
  assert.equal(await seconds({ expirationSeconds: 600 }), 600);
  assert.equal(await seconds({ expirationSeconds: 48 * HOUR }), 12 * HOUR);
  assert.equal(await seconds({}), 12 * HOUR);
});

const refused: [what: string, wanted: CsrWanted, says: RegExp][] = [
  [
    'a reserved group beside an allowed name',
    { organizations: ['dev', 'kubeadm:cluster-admins'] },
    /kubeadm:cluster-admins/,
  ],
  ['system:masters', { organizations: ['system:masters'] }, /system:masters/],
  ['a reserved common name', { commonName: 'system:admin' }, /system:admin/],
  ['a key type outside the profile', { keyType: 'RSA3072' }, /ECDSAP256, ED25519/],
  ['a usage outside the profile', { usages: ['client auth', 'server auth'] }, /server auth/],
];

for (const [what, wanted, says] of refused) {
  test(`${what} is Denied with the reason`, async () => {
    const name = await createCsr(fixture.cluster, wanted);
    assert.match((await waitForCondition(fixture.cluster, name, 'Denied')).message, says);
  });
}

test('a deny rule denies, with its message', async () => {
  const robot = { user: 'robot:ci', groups: ['dev'] };
  const name = await createCsr(fixture.cluster, { as: robot, commonName: 'robot:ci' });
  const denied = await waitForCondition(fixture.cluster, name, 'Denied');
  assert.match(denied.message, /robots use podCertificate volumes/);
});

const undecided: [what: string, wanted: CsrWanted, says: RegExp][] = [
  ['a SAN that no allow names', { dnsNames: ['jane.example.com'] }, /dnsNames/],
  ['a group that the requester is not in', { organizations: ['ops'] }, /ops/],
  ['another name than the requester’s', { commonName: 'joe' }, /own-name/],
];

for (const [what, wanted, says] of undecided) {
  test(`${what} is neither approved nor denied, and an Event says why`, async () => {
    const name = await createCsr(fixture.cluster, wanted);
    const note = await until('the Event is there', 20_000, async () => {
      const selector = `regarding.kind=CertificateSigningRequest,regarding.name=${name}`;
      const { stdout } = await fixture.cluster.kubectl([
        'get',
        'events.events.k8s.io',
        '-n',
        'default',
        '--field-selector',
        selector,
        '-o',
        'jsonpath={.items[*].note}',
      ]);
      return stdout === '' ? undefined : stdout;
    });
    assert.match(note, says);
    assert.deepEqual((await getCsr(fixture.cluster, name)).status, {});
  });
}

test('a manually approved request is signed without a rule, copying only requests.copy', async () => {
  const name = await createCsr(fixture.cluster, {
    commonName: 'joe',
    dnsNames: ['joe.example.com'],
  });
  await fixture.cluster.kubectl(['certificate', 'approve', name]);
  const leaf = new X509Certificate(await waitForCertificate(fixture.cluster, name));
  assert.equal(leaf.subject, 'O=dev\nCN=joe');
  assert.equal(leaf.subjectAltName, undefined);
});

test('a CertificateSigningRequest for another signer is never touched', async () => {
  const name = await createCsr(fixture.cluster, { signerName: 'foreign.example.com/people' });
  const ours = await createCsr(fixture.cluster);
  await waitForCertificate(fixture.cluster, ours);
  assert.deepEqual((await getCsr(fixture.cluster, name)).status, {});
});

test('a malformed PKCS#10 request is refused with a reason and delays no other request', async () => {
  const good = await requestPem({});
  // The API server checks a request's PEM and signature itself; trailing text inside is ours to
  // refuse.
  const twice = await createCsr(fixture.cluster, { pem: good + good });
  assert.match((await waitForCondition(fixture.cluster, twice, 'Denied')).message, /PEM|block/);
  const after = await createCsr(fixture.cluster);
  await waitForCertificate(fixture.cluster, after);
});

test('manual approval does not lift a hard refusal: the request fails with a reason', async () => {
  const { approver } = fixture.installation.components;
  approver.signal('SIGSTOP');
  try {
    const name = await createCsr(fixture.cluster, { organizations: ['system:masters'] });
    await fixture.cluster.kubectl(['certificate', 'approve', name]);
    const failed = await waitForCondition(fixture.cluster, name, 'Failed');
    assert.match(failed.message, /system:masters/);
    assert.equal((await getCsr(fixture.cluster, name)).status?.certificate, undefined);
  } finally {
    approver.signal('SIGCONT');
  }
});

test('a denied request is never signed, even if it was approved before', async () => {
  const name = await createCsr(fixture.cluster, { commonName: 'system:node:x' });
  await waitForCondition(fixture.cluster, name, 'Denied');
  assert.equal(await conditionOf(fixture.cluster, name, 'Failed'), undefined);
});
