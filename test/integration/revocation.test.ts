// SPDX-License-Identifier: Apache-2.0
/**
 * Revocations on a real API server: who may write them, what authority signs, and what outlives
 * them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { decodeCertificateList, type CertificateList } from '#pki/x509/certificate-list.ts';
import { serialText } from '#ca/revocation/serial.ts';
import type { CrlConfigMap } from '#ca/revocation/published.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';

const WAIT_MS = 120_000;
const SIGNER = 'example.com/workload';

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'] });
  await fixture.cluster.kubectl([
    'patch',
    'clustersigner',
    'workload',
    '--type=merge',
    '-p',
    JSON.stringify({
      spec: { profile: { crl: { urls: ['http://crl.example.com/{authority}.crl'] } } },
    }),
  ]);
});
after(() => fixture.stop());

function revocation(name: string, spec: Partial<Revocation['spec']> = {}): object {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name },
    spec: {
      signerName: SIGNER,
      reason: 'keyCompromise',
      certificates: [{ serial: 'a1b2c3' }],
      ...spec,
    },
  };
}

async function lists(): Promise<readonly CertificateList[]> {
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'configmap',
    'workload-ca-crl',
    '-n',
    'countersign-keys',
    '-o',
    'json',
    '--ignore-not-found',
  ]);
  if (stdout === '') return [];
  const { binaryData = {} } = JSON.parse(stdout) as CrlConfigMap;
  return Object.values(binaryData).map((each) =>
    decodeCertificateList(Buffer.from(each, 'base64')),
  );
}

/** The one CRL, once it lists exactly these serial numbers. */
function listed(serials: readonly string[]): Promise<CertificateList> {
  return until(`the CRL lists ${serials.join(', ')}`, WAIT_MS, async () => {
    const [list, ...more] = await lists();
    assert.deepEqual(more, []);
    const found = list?.revoked.map(({ serial }) => serialText(serial)).toSorted();
    return found?.join() === serials.toSorted().join() ? list : undefined;
  });
}

async function get(name: string): Promise<Revocation> {
  const { stdout } = await fixture.cluster.kubectl(['get', 'revocation', name, '-o', 'json']);
  return JSON.parse(stdout) as Revocation;
}

let number = 0n;

test('a ClusterSigner with profile.crl has an empty CRL before anything is revoked', async () => {
  const list = await listed([]);
  assert.ok(list.nextUpdate > Date.now());
  number = list.number;
});

test('what a Revocation names is listed, with a higher number, and its status says so', async () => {
  await apply(fixture.cluster, revocation('first'));
  const list = await listed(['a1b2c3']);
  assert.ok(list.number > number);
  assert.equal(list.revoked[0]?.reason, 'keyCompromise');
  const found = await until('the status says so', WAIT_MS, async () => {
    const { status } = await get('first');
    return findCondition(status?.conditions, 'Listed')?.status === 'True' ? status : undefined;
  });
  assert.equal(BigInt(found.crlNumber ?? 0), list.number);
  ({ number } = list);
});

test('the spec of a Revocation cannot be changed', async () => {
  const { stderr, code } = await fixture.cluster.kubectl(
    [
      'patch',
      'revocation',
      'first',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { certificates: [] } }),
    ],
    { allowFailure: true },
  );
  assert.equal(code, 1);
  assert.match(stderr, /spec cannot be changed; create another Revocation/);
});

test('deleting a Revocation takes nothing off the CRL', async () => {
  await fixture.cluster.kubectl(['delete', 'revocation', 'first']);
  await apply(fixture.cluster, revocation('second', { certificates: [{ serial: 'd4' }] }));
  const list = await listed(['a1b2c3', 'd4']);
  assert.ok(list.number > number);
  ({ number } = list);
});

test('a ConfigMap that is lost comes back with what stands, and with a higher number', async () => {
  await fixture.cluster.kubectl([
    'delete',
    'configmap',
    'workload-ca-crl',
    '-n',
    'countersign-keys',
  ]);
  const list = await listed(['d4']);
  assert.ok(list.number > number);
  ({ number } = list);
});

test('creating and deleting a Revocation takes the verb revoke on the signer', async () => {
  const account = 'system:serviceaccount:default:default';
  await bind('writes', { resources: ['revocations'], verbs: ['create', 'delete', 'get'] });
  const as = (verb: string, input: object) =>
    fixture.cluster.kubectl([verb, '-f', '-', '--as', account], {
      input: JSON.stringify(input),
      allowFailure: true,
    });
  const third = revocation('third', { certificates: [{ serial: 'e5' }] });
  const refused = /may not revoke certificates of example\.com\/workload/;
  await until('the grant is heard, and the policy refuses', WAIT_MS, async () =>
    refused.test((await as('create', third)).stderr),
  );
  await until('the policy refuses to delete', WAIT_MS, async () =>
    refused.test((await as('delete', revocation('second'))).stderr),
  );
  await bind('revokes', {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [SIGNER],
    verbs: ['revoke'],
  });
  await until('the grant is heard', WAIT_MS, async () => (await as('create', third)).code === 0);
  await listed(['d4', 'e5']);
});

/** Grants a rule to a ServiceAccount of namespace default. */
async function bind(suffix: string, rule: object): Promise<void> {
  const name = `revocation-${suffix}`;
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: ['countersign.dev'], ...rule }],
  };
  await apply(fixture.cluster, role);
  const subject = '--serviceaccount=default:default';
  await fixture.cluster.kubectl([
    'create',
    'clusterrolebinding',
    name,
    `--clusterrole=${name}`,
    subject,
  ]);
}
