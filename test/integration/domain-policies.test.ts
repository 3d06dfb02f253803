// SPDX-License-Identifier: Apache-2.0
/**
 * What a grant on `example.com/*` lets people write, by the admission policies. Everything is a dry
 * run.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderAdmission } from '#install/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { acmeClusterSigner } from '../support/acme/signer.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { requestPem } from '../support/cluster/requests/csr.ts';
import { forgedRequest } from '../support/requests/forged-pkcs10.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The API server compiles 46 policies in 20 s of a busy machine: a limit for one half as fast. */
const SOON = 180_000;
const NAME = 'example.com/workload';
const TENANT = 'signers.countersign.dev/team-a.web';
const DOMAIN = 'example.com/*';
const TENANTS = 'signers.countersign.dev/*';
/** What Kubernetes takes for no name of these domains. */
const NO_DOMAINS = ['*/*', '*.com/*', '*.dev/*', 'example.com/work*', 'example.com/', '*'];

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  for (const file of ['namespaces.yaml', 'crds', 'crds/acme']) {
    await cluster.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', file)]);
  }
  for (const kind of ['clustersigners', 'signers', 'revocations'])
    await established(cluster, `crd/${kind}.countersign.dev`);
  await established(cluster, 'crd/acmeclustersigners.acme.countersign.dev');
  const policies = renderAdmission({ ...DEMO, namespacedSigners: true });
  for (const text of policies.values()) await applyText(cluster, text);
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'writes' },
    rules: [
      { apiGroups: ['countersign.dev', 'acme.countersign.dev'], resources: ['*'], verbs: ['*'] },
      { apiGroups: ['certificates.k8s.io'], resources: REQUESTS, verbs: ['create', 'get'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['use'] },
    ],
  });
});
after(() => cluster.stop());

const REQUESTS = ['certificatesigningrequests', 'podcertificaterequests'];

/** A user who may write every kind, and has these verbs on these names of signers. */
async function user(
  name: string,
  verbs: readonly string[],
  resourceNames: readonly string[],
): Promise<string> {
  const of = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  const [kind, apiGroup] = ['ClusterRole', 'rbac.authorization.k8s.io'];
  const bind = (role: string): object => ({
    ...of,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${name}-${role}` },
    roleRef: { apiGroup, kind, name: role },
    subjects: [{ apiGroup, kind: 'User', name }],
  });
  const rules = [
    { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames, verbs },
  ];
  await apply(cluster, { ...of, kind, metadata: { name }, rules }, bind(name), bind('writes'));
  return name;
}

type Write = (signerName: string) => Promise<object> | object;

async function answer(as: string, object: object): Promise<string> {
  const { code, stderr } = await cluster.kubectl(
    ['create', '--dry-run=server', '-f', '-', '--as', as],
    { input: JSON.stringify(object), allowFailure: true },
  );
  return code === 0 ? 'admitted' : stderr;
}

const clusterSigner: Write = (signerName) => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'ClusterSigner',
  metadata: { name: 'x' },
  spec: {
    signerName,
    authority: {
      managed: { secret: { namespace: 'countersign-keys', name: 'x-ca' }, commonName: 'x' },
    },
    profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
  },
});

const revocation: Write = (signerName) => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'Revocation',
  metadata: { name: 'x' },
  spec: { signerName, reason: 'keyCompromise', certificates: [{ serial: 'a1' }] },
});

const csr: Write = async (signerName) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'x' },
  spec: {
    signerName,
    usages: ['digital signature', 'client auth'],
    request: Buffer.from(await requestPem({})).toString('base64'),
  },
});

const podRequest: Write = (signerName) =>
  forgedRequest('certificates.k8s.io/v1', { namespace: 'default', signerName });

/** What is written, the verbs that it takes, and what a refusal says. */
const WRITES: readonly (readonly [string, readonly string[], Write, RegExp])[] = [
  ['a ClusterSigner', ['sign', 'attest'], clusterSigner, /may not (?:sign|attest) for/],
  ['a Revocation', ['revoke'], revocation, /may not revoke certificates of/],
  ['a CertificateSigningRequest', ['request'], csr, /may not request certificates of/],
  ['a PodCertificateRequest', ['request-on-behalf'], podRequest, /may create this PodCert/],
];

for (const [what, verbs, write, refusal] of WRITES) {
  test(`${what} is admitted by the wildcard of its domain, and by no other pattern`, async () => {
    const other = await user(`other-${verbs[0] ?? ''}`, verbs, NO_DOMAINS);
    const object = await write(NAME);
    // Two policies refuse a pod's request if its ServiceAccount lacks the verb `request`. The API
    // server names either of them. With the verb, only the policy of this test refuses.
    if (what === 'a PodCertificateRequest') await grantPods();
    await until('the policy is in force', SOON, async () =>
      refusal.test(await answer(other, object)),
    );
    const wild = await user(`wild-${verbs[0] ?? ''}`, verbs, [DOMAIN]);
    await until('the grant is heard', SOON, async () => {
      const said = await answer(wild, object);
      if (said !== 'admitted') throw new Error(said);
      return true;
    });
    assert.match(await answer(other, object), refusal);
  });
}

/** The ServiceAccount of the forged request may request, by the wildcard. */
async function grantPods(): Promise<void> {
  await user('system:serviceaccount:default:default', ['request'], [DOMAIN]);
}

for (const [what, verbs, write, refusal] of WRITES.slice(1)) {
  test(`${what} of a tenant's Signer needs the exact name; no wildcard grants it`, async () => {
    const wild = await user(`tenants-${verbs[0] ?? ''}`, verbs, [TENANTS]);
    const exact = await user(`tenant-${verbs[0] ?? ''}`, verbs, [TENANT]);
    const object = await write(TENANT);
    if (what === 'a PodCertificateRequest')
      await user('system:serviceaccount:default:default', ['request'], [TENANT]);
    await until('the grant of the exact name is heard', SOON, async () => {
      const said = await answer(exact, object);
      if (said !== 'admitted') throw new Error(said);
      return true;
    });
    assert.match(await answer(wild, object), refusal);
  });
}

test('a pod’s ServiceAccount uses the domain’s wildcard grant, not the tenants’', async () => {
  const account = 'system:serviceaccount:default:default';
  const who = await user('kubelets', ['request-on-behalf'], [NAME, TENANT]);
  const says = async (signerName: string): Promise<string> =>
    answer(who, await podRequest(signerName));
  await user(account, ['request'], [...NO_DOMAINS, TENANTS]);
  for (const name of [NAME, TENANT]) {
    await until('it may not', SOON, async () =>
      /ServiceAccount default\/default\s+may not request/.test(await says(name)),
    );
  }
  await user(account, ['request'], [DOMAIN, TENANTS]);
  await until('it may', SOON, async () => (await says(NAME)) === 'admitted');
  assert.match(await says(TENANT), /may not request/);
});

test('the status of a ClusterSigner and an AcmeClusterSigner take the same wildcard', async () => {
  const server = { directory: 'https://127.0.0.1:1/directory', ca: '' };
  const acme = acmeClusterSigner({
    name: 'x',
    signerName: NAME,
    server,
    solvers: [{ name: 'http', http01: {} }],
    acme: { caBundle: undefined },
  });
  const verbs = ['sign', 'attest'];
  const other = await user('other-acme', verbs, NO_DOMAINS);
  const wild = await user('wild-acme', verbs, [DOMAIN]);
  await until('the policy is in force', SOON, async () =>
    /may not (?:sign|attest) for/.test(await answer(other, acme)),
  );
  await until('the grant is heard', SOON, async () => {
    const said = await answer(wild, acme);
    if (said !== 'admitted') throw new Error(said);
    return true;
  });
  const signer = JSON.stringify(await clusterSigner(NAME));
  await cluster.kubectl(['create', '-f', '-'], { input: signer });
  const patch = async (as: string): Promise<string> => {
    const status = JSON.stringify({ status: { conditions: [] } });
    const { code, stderr } = await cluster.kubectl(
      [
        'patch',
        'clustersigner',
        'x',
        '--subresource=status',
        '--type=merge',
        '-p',
        status,
        '--dry-run=server',
        '--as',
        as,
      ],
      { allowFailure: true },
    );
    return code === 0 ? 'admitted' : stderr;
  };
  await until('the policy is in force', SOON, async () =>
    /may not attest for/.test(await patch(other)),
  );
  assert.equal(await patch(wild), 'admitted');
});
