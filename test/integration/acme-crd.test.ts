// SPDX-License-Identifier: Apache-2.0
/** The kinds of acme.countersign.dev on a real API server: what they fill in, refuse, and show. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import type { KubectlResult } from '../cluster/kubectl.ts';
import { changed } from '../support/signers/cluster-signer.ts';

const CRDS = ['acmeclustersigners', 'acmesigners', 'orders', 'challenges'].flatMap((name) => [
  '-f',
  join(import.meta.dirname, `../../deploy/crds/acme/${name}.yaml`),
]);
const apiVersion = 'acme.countersign.dev/v1alpha1';
const namespace = 'default';

let cluster: Cluster;
before(async () => {
  cluster = await openCluster();
  await cluster.kubectl(['apply', '--server-side', ...CRDS]);
  await established(cluster, ...CRDS);
});
after(async () => {
  await cluster.kubectl(['delete', '--ignore-not-found', ...CRDS]);
  await cluster.stop();
});

const ACME = {
  server: 'https://acme.example/directory',
  accountKey: { secret: { name: 'account' } },
  solvers: [{ name: 'http', http01: {} }],
};

function kubectl(
  verb: string,
  object: object,
  ...flags: readonly string[]
): Promise<KubectlResult> {
  const input = JSON.stringify({ apiVersion, ...object });
  return cluster.kubectl([verb, '-f', '-', ...flags], { input, allowFailure: true });
}

function signer(spec: unknown): object {
  return { kind: 'AcmeClusterSigner', metadata: { name: 'public' }, spec };
}

const SPEC = { signerName: 'example.com/public', acme: ACME };

async function dryRun<T>(object: object): Promise<T> {
  const { stdout, stderr } = await kubectl('create', object, '--dry-run=server', '-o', 'json');
  assert.equal(stderr, '');
  return JSON.parse(stdout) as T;
}

test('AcmeClusterSigner defaults: terms not agreed, 60 at once, leaves of 200 days', async () => {
  interface Stored {
    readonly spec: {
      readonly acme: Readonly<Record<string, unknown>>;
      readonly profile: Readonly<Record<string, unknown>>;
    };
  }
  const { spec } = await dryRun<Stored>(signer(SPEC));
  const { termsOfServiceAgreed, maxConcurrent, renewalInfo } = spec.acme;
  assert.deepEqual([termsOfServiceAgreed, maxConcurrent, renewalInfo], [false, 60, true]);
  assert.equal(spec.profile['maxDuration'], '4800h');
  assert.equal(spec.profile['backdate'], undefined);
});

const solver = (more: object): unknown => [{ name: 'a', ...more }];

const REFUSED: readonly [law: string, path: string, value: unknown, says: RegExp][] = [
  ['a server without TLS', 'acme.server', 'http://acme.example/', /should match/],
  ['a server with a user', 'acme.server', 'https://a:b@acme.example/', /should match/],
  ['no solver', 'acme.solvers', [], /at least 1/],
  ['a solver that does nothing', 'acme.solvers', solver({}), /exactly one of http01/],
  ['a solver of two kinds', 'acme.solvers', solver({ http01: {}, persist: {} }), /exactly one of/],
  [
    'an Ingress and a Gateway',
    'acme.solvers',
    solver({ http01: { ingress: {}, gateway: { name: 'g' } } }),
    /not have both/,
  ],
  [
    'a path type that matches more than the path',
    'acme.solvers',
    solver({ http01: { ingress: { pathType: 'Prefix' } } }),
    /Unsupported value/,
  ],
  ['two solvers of one name', 'acme.solvers', [1, 2].map(() => ACME.solvers[0]), /Duplicate value/],
  ['more than 10,000 at once', 'acme.maxConcurrent', 10_001, /less than or equal to 10000/],
  ['a caBundle that is none', 'acme.caBundle', 'MII', /should match/],
  ['a leaf of minutes', 'profile', { maxDuration: '59m' }, /at least 1h/],
  ['a leaf of years', 'profile', { maxDuration: '9601h' }, /400 days/],
  ['a name of Kubernetes', 'signerName', 'kubernetes.io/x', /reserved for Kubernetes/],
  ['a derived name', 'signerName', 'acmesigners.acme.countersign.dev/a.b', /derived names/],
  ['pods', 'pods', { allow: 'true', uris: ["'spiffe://a'"] }, /unknown field "spec.pods"/],
  ['a trust bundle', 'trustBundle', { name: 'x' }, /unknown field/],
];

for (const [law, path, value, says] of REFUSED) {
  test(`an AcmeClusterSigner is refused: ${law}`, async () => {
    const { stderr } = await kubectl(
      'create',
      signer(changed(SPEC, path, value)),
      '--dry-run=server',
    );
    assert.match(stderr, says);
  });
}

test('an AcmeClusterSigner’s signer name is fixed, and an AcmeSigner’s is derived', async () => {
  assert.equal((await kubectl('create', signer(SPEC))).stderr, '');
  try {
    const other = signer({ ...SPEC, signerName: 'example.com/other' });
    assert.match((await kubectl('apply', other)).stderr, /create another AcmeClusterSigner/);
  } finally {
    await cluster.kubectl(['delete', 'acmeclustersigner', 'public']);
  }
  const metadata = { name: 'team', namespace };
  const ofTeam = (spec: object): object => ({ kind: 'AcmeSigner', metadata, spec });
  await dryRun(ofTeam({ acme: ACME }));
  for (const http01 of [
    { ingress: { annotations: { a: 'b' } } },
    { gateway: { name: 'g', labels: { a: 'b' } } },
  ]) {
    const acme = { ...ACME, solvers: solver({ http01 }) };
    const refused = await kubectl('create', ofTeam({ acme }), '--dry-run=server');
    assert.match(refused.stderr, /must not have labels or annotations of routes/);
    await dryRun(signer({ ...SPEC, acme }));
  }
  const { stderr } = await kubectl('create', ofTeam(SPEC), '--dry-run=server');
  assert.match(stderr, /unknown field "spec.signerName"/);
});

const ORDER = {
  kind: 'Order',
  metadata: { name: 'web-1', namespace },
  spec: {
    signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
    requestRef: { kind: 'CertificateRequest', name: 'web', uid: 'u1' },
    request: 'MIIB',
    identifiers: [{ type: 'dns', value: '*.web.example' }],
    attempt: 1,
  },
};

const CHALLENGE = {
  kind: 'Challenge',
  metadata: { name: 'web-1-0', namespace },
  spec: {
    signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
    orderRef: { name: 'web-1', uid: 'u2' },
    authorizationURL: 'https://acme.example/a/1',
    url: 'https://acme.example/c/1',
    type: 'dns-01',
    token: 'abc_-',
    key: 'abc',
    dnsName: 'web.example',
    solver: 'dns',
  },
};

for (const [object, path, value] of [
  [ORDER, 'attempt', 2],
  [ORDER, 'identifiers', [{ type: 'dns', value: 'other.example' }]],
  [CHALLENGE, 'solver', 'other'],
  [CHALLENGE, 'token', 'other'],
] as const) {
  test(`the spec of a ${object.kind} is immutable: ${path}`, async () => {
    const { name } = object.metadata;
    assert.equal((await kubectl('create', object)).stderr, '');
    try {
      const other = { ...object, spec: changed(object.spec, path, value) };
      assert.match((await kubectl('replace', other)).stderr, /is immutable/);
      // Labels, finalizers and owner references stay open.
      await cluster.kubectl(['label', object.kind, name, '-n', namespace, 'a=b']);
    } finally {
      await cluster.kubectl(['delete', object.kind, name, '-n', namespace]);
    }
  });
}

const REFUSED_CHALLENGES: readonly [law: string, path: string, value: unknown, says: RegExp][] = [
  ['a token that leaves its path', 'token', '../x', /should match/],
  ['a URL without TLS', 'url', 'http://acme.example/', /should match/],
  ['a wildcard by HTTP', 'type', 'http-01', /must not prove a wildcard/],
  ['no key', 'key', undefined, /must have token and key/],
];

for (const [law, path, value, says] of REFUSED_CHALLENGES) {
  test(`a Challenge is refused: ${law}`, async () => {
    const spec = changed({ ...CHALLENGE.spec, wildcard: true }, path, value);
    const { stderr } = await kubectl('create', { ...CHALLENGE, spec }, '--dry-run=server');
    assert.match(stderr, says);
  });
}

test('kubectl get shows state, reason and next attempt', async () => {
  for (const [object, columns] of [
    [ORDER, ['NAME', 'STATE', 'REASON', 'NEXT ATTEMPT', 'AGE']],
    [CHALLENGE, ['NAME', 'STATE', 'NAME', 'TYPE', 'REASON', 'NEXT ATTEMPT', 'AGE']],
  ] as const) {
    const { name } = object.metadata;
    await kubectl('create', object);
    const status = {
      state: 'pending',
      reason: 'RateLimited',
      message: 'the server limits its calls',
      failures: 1,
      nextAttemptAt: '2030-01-01T00:00:00Z',
    };
    const patch = JSON.stringify({ status });
    const where = [object.kind, name, '-n', namespace];
    await cluster.kubectl(['patch', ...where, '--subresource=status', '--type=merge', '-p', patch]);
    const { stdout } = await cluster.kubectl(['get', ...where]);
    const [head = '', row = ''] = stdout.trim().split('\n');
    assert.deepEqual(head.trim().split(/ {2,}/), columns);
    assert.match(row, /pending .*RateLimited .*2030-01-01T00:00:00Z/);
    await cluster.kubectl(['delete', ...where]);
  }
});
