// SPDX-License-Identifier: Apache-2.0
/** Who may write the kinds of ACME: each refusal with every right that RBAC can give. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import type { KubectlResult } from '../cluster/kubectl.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { marksOfRoutes } from './acme-admission/marks-of-routes.ts';

const root = join(import.meta.dirname, '../..');
const CRDS = ['acmeclustersigners', 'acmesigners', 'orders', 'challenges'].flatMap((name) => [
  '-f',
  join(root, `deploy/crds/acme/${name}.yaml`),
]);
const POLICIES = ['-f', join(root, 'deploy/admission/acme.yaml')];
const apiVersion = 'acme.countersign.dev/v1alpha1';
const namespace = 'acme-admission';
const signerName = 'acme-admission.example.com/public';
/** The API server compiles a new policy, and hears of a new grant, within a few seconds. */
const SOON = 60_000;

type Writer = 'acme' | 'acme-solver' | 'somebody';

const TSIG = { keyName: 'k', algorithm: 'HMAC-SHA256', secret: { name: 'dns' } };

let cluster: Cluster;
/** Each may do everything with the group, as far as RBAC is concerned. */
const kubeconfigs = new Map<Writer, string>();

before(async () => {
  // Of its own: the policies would refuse what other tests write.
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await cluster.kubectl(['apply', '--server-side', ...CRDS]);
  await established(cluster, ...CRDS);
  await cluster.kubectl(['apply', ...POLICIES]);
  const places: readonly (readonly [Writer, string, string])[] = [
    ['acme', SYSTEM_NAMESPACE, 'countersign-acme'],
    ['acme-solver', SYSTEM_NAMESPACE, 'countersign-acme-solver'],
    ['somebody', namespace, 'somebody'],
  ];
  const subjects = places.map(([, where, name]) => ({
    kind: 'ServiceAccount' as const,
    namespace: where,
    name,
  }));
  await apply(
    cluster,
    ...[SYSTEM_NAMESPACE, namespace].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    })),
  );
  await apply(
    cluster,
    ...subjects.map(({ namespace: where, name }) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: where, name },
    })),
  );
  await grant('everything', subjects, {
    apiGroups: ['acme.countersign.dev'],
    resources: [
      'orders',
      'orders/status',
      'challenges',
      'challenges/status',
      'acmeclustersigners',
      'acmeclustersigners/status',
    ],
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
  });
  for (const [writer, where, name] of places)
    kubeconfigs.set(writer, await cluster.serviceAccountKubeconfig(where, name));
  await until('the policies are in force', SOON, async () => {
    const { stderr } = await as('somebody', ['create', '-f', '-'], order('early'));
    return stderr.includes('only the acme component does');
  });
});

after(() => cluster.stop());

type Subjects = readonly Readonly<Record<'kind' | 'namespace' | 'name', string>>[];
const SOMEBODY: Subjects = [{ kind: 'ServiceAccount', namespace, name: 'somebody' }];

async function grant(suffix: string, subjects: Subjects, rule: object): Promise<void> {
  const name = `${namespace}-${suffix}`;
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name };
  await apply(
    cluster,
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules: [rule] },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects,
    },
  );
}

function as(
  writer: Writer | undefined,
  command: readonly string[],
  object?: object,
): Promise<KubectlResult> {
  const kubeconfig = writer === undefined ? undefined : kubeconfigs.get(writer);
  return cluster.kubectl(command, {
    allowFailure: true,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(object === undefined ? {} : { input: JSON.stringify(object) }),
  });
}

function order(name: string, annotations: Readonly<Record<string, string>> = {}): object {
  return {
    apiVersion,
    kind: 'Order',
    metadata: { namespace, name, annotations },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      requestRef: { kind: 'CertificateRequest', name: 'web', uid: 'u' },
      request: 'AAAA',
      identifiers: [{ type: 'dns', value: 'a.example' }],
      attempt: 1,
    },
  };
}

function challenge(name: string): object {
  return {
    apiVersion,
    kind: 'Challenge',
    metadata: { namespace, name, labels: { 'acme.countersign.dev/order-uid': 'u' } },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      orderRef: { name: 'web-1', uid: 'u' },
      authorizationURL: 'https://acme.example/authz/1',
      url: 'https://acme.example/chall/1',
      type: 'dns-01',
      dnsName: 'a.example',
      token: 't',
      key: 'k',
      solver: 'dns',
    },
  };
}

const patch = (kind: string, name: string, value: object, ...flags: readonly string[]) => [
  'patch',
  kind,
  name,
  '-n',
  namespace,
  '--type=merge',
  '-p',
  JSON.stringify(value),
  ...flags,
];
const STATUS = '--subresource=status';

async function allowed(
  writer: Writer | undefined,
  command: readonly string[],
  object?: object,
): Promise<void> {
  const { code, stderr } = await as(writer, command, object);
  assert.equal(code, 0, stderr);
}

async function refused(
  writer: Writer,
  says: RegExp,
  command: readonly string[],
  object?: object,
): Promise<void> {
  const { code, stderr } = await as(writer, command, object);
  assert.notEqual(code, 0, `${writer} ${command.join(' ')}`);
  assert.match(stderr, says);
}

test('only acme makes Orders and Challenges', async () => {
  for (const writer of ['acme-solver', 'somebody'] as const) {
    await refused(writer, /only the acme component does/, ['create', '-f', '-'], order('web-1'));
    await refused(writer, /only the acme component does/, ['create', '-f', '-'], challenge('c'));
  }
  await allowed('acme', ['create', '-f', '-'], order('web-1'));
  await allowed('acme', ['create', '-f', '-'], challenge('c'));
});

test('only acme writes the status of an Order', async () => {
  const issued = { status: { state: 'valid', certificate: 'mine' } };
  for (const writer of ['acme-solver', 'somebody'] as const)
    await refused(writer, /only the acme component does/, patch('order', 'web-1', issued, STATUS));
  await allowed('acme', patch('order', 'web-1', { status: { state: 'pending' } }, STATUS));
});

test('acme-solver writes status.solver of a Challenge, and nothing else of it', async () => {
  const begun = { status: { processing: true, state: 'pending' } };
  await allowed('acme', patch('challenge', 'c', begun, STATUS));
  const presented = { status: { solver: { presented: true } } };
  await allowed('acme-solver', patch('challenge', 'c', presented, STATUS));
  for (const status of [
    { state: 'valid' },
    { processing: null },
    { reason: 'X', solver: { presented: false } },
  ])
    await refused('acme-solver', /and acme-solver status\.solver/, [
      ...patch('challenge', 'c', { status }, STATUS),
    ]);
  await refused(
    'somebody',
    /may not write the status of Challenge c/,
    patch('challenge', 'c', presented, STATUS),
  );
});

test('a Challenge’s finalizers and owners can change, its ownership label cannot', async () => {
  await allowed('somebody', patch('challenge', 'c', { metadata: { finalizers: ['a.example/b'] } }));
  await allowed('somebody', patch('challenge', 'c', { metadata: { finalizers: null } }));
  const labels = { 'acme.countersign.dev/order-uid': 'another' };
  await refused(
    'somebody',
    /only the acme component does/,
    patch('challenge', 'c', { metadata: { labels } }),
  );
});

test('deletion is left to RBAC', async () => {
  await allowed('somebody', ['delete', 'challenge', 'c', '-n', namespace]);
});

test('who asks for a revocation needs the verb revoke on the signer', async () => {
  const annotations = { 'acme.countersign.dev/revoke': 'superseded' };
  const wish = patch('order', 'web-1', { metadata: { annotations } });
  await refused('somebody', /grant it the verb revoke on it/, wish);
  await grant('revoke', SOMEBODY, {
    apiGroups: ['acme.countersign.dev'],
    resources: ['acmeclustersigners'],
    resourceNames: ['public'],
    verbs: ['revoke'],
  });
  await until('the grant is heard', SOON, async () => (await as('somebody', wish)).code === 0);
});

test('writing an AcmeClusterSigner needs sign and attest, and use on its Secrets', async () => {
  const signer = (secret: string) => ({
    apiVersion,
    kind: 'AcmeClusterSigner',
    metadata: { name: namespace },
    spec: {
      signerName,
      acme: {
        server: 'https://acme.example/directory',
        accountKey: { secret: { name: secret } },
        solvers: [{ name: 'http', http01: {} }],
      },
    },
  });
  const create = ['create', '-f', '-'];
  await refused('somebody', /may not (?:sign|use)/, create, signer('account'));
  await grant('sign', SOMEBODY, {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [signerName],
    verbs: ['sign', 'attest'],
  });
  await until('sign is heard', SOON, async () =>
    (await as('somebody', create, signer('account'))).stderr.includes(
      'may not use Secret countersign-keys/account',
    ),
  );
  await grant('use', SOMEBODY, {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['account'],
    verbs: ['use'],
  });
  await until('use is heard', SOON, async () => {
    const { code } = await as('somebody', create, signer('account'));
    return code === 0;
  });
  const replace = ['replace', '-f', '-'];
  await refused('somebody', /for an account key/, replace, signer('another'));
  const dns = (name: string, server: string) => ({
    name,
    acmeDNS: { server, secret: { name: 'dns' } },
  });
  const solvers = (...more: readonly object[]) => {
    const { spec, ...rest } = signer('account');
    return { ...rest, spec: { ...spec, acme: { ...spec.acme, solvers: more } } };
  };
  const own = dns('own', 'https://dns.example');
  const foreign = { name: 'tsig', rfc2136: { server: '192.0.2.1', tsig: TSIG } };
  await refused('somebody', /countersign-dns\/dns for a solver/, replace, solvers(own));
  await grant('use-dns', SOMEBODY, {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['dns'],
    verbs: ['use'],
  });
  const names = async () => (await as('somebody', replace, solvers(own))).code === 0;
  await until('use of the credential is heard', SOON, names);
  // An administrator named another credential: its password goes to no other server, and the rest
  // can be changed.
  await allowed(undefined, replace, solvers(own, dns('theirs', 'https://dns.example'), foreign));
  await cluster.kubectl(['delete', 'clusterrolebinding', `${namespace}-use-dns`]);
  const mayUse = ['auth', 'can-i', 'use', 'secrets/dns', '-n', 'countersign-dns'];
  const isHeard = async () => (await as('somebody', mayUse)).code !== 0;
  await until('the withdrawal is heard', SOON, isHeard);
  const evil = solvers(dns('own', 'https://a.example'));
  await refused('somebody', /countersign-dns\/dns for a solver/, replace, evil);
  await allowed('somebody', replace, solvers({ ...own, name: 'renamed' }, foreign));
  const tsig = { ...TSIG, secret: { name: 'key' } };
  const otherKey = { ...foreign, rfc2136: { server: '192.0.2.1', tsig } };
  await refused('somebody', /key for a solver/, replace, solvers(otherKey));
  const many = Array.from('abcdefghi', (each) => dns(each, `https://${each}.example`));
  await refused('somebody', /dns for a solver|8 at a time/, replace, solvers(...many));
  await allowed(undefined, replace, solvers(...many));
  const mayRoute = grant.bind(undefined, 'route', SOMEBODY);
  await marksOfRoutes({ allowed, refused, solvers, grant: mayRoute });
  const status = { status: { conditions: [] } };
  const write = patch('acmeclustersigner', namespace, status, STATUS);
  await refused('somebody', /may not write the status of AcmeClusterSigner/, write);
  await allowed('acme', write);
  await allowed('somebody', ['delete', 'acmeclustersigner', namespace]);
});
