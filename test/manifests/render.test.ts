// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { Installation } from '../../src/manifests/installation.ts';
import { renderAdmission, renderRbac } from '../../src/manifests/render.ts';
import { components, linesOf, rolesOf, type Role } from './roles.ts';

const READ = 'get,list,watch';
const both = '[example.com/workload example.com/people]';
const cas = '[workload-ca people-ca] @countersign-keys';
const POLICY_KINDS = 'validatingadmissionpolicies,validatingadmissionpolicybindings';
/** Reading the admission policies that a component relies on, by name. */
const policies = (...names: readonly string[]): string => {
  const all = [...names, 'events', 'leases', 'leases-deleted'].map((each) => `countersign-${each}`);
  return `get admissionregistration.k8s.io/${POLICY_KINDS} [${all.join(' ')}]`;
};
const EVENTS = 'create,patch events.k8s.io/events @default';

const MEMBER = `create,${READ},update,delete coordination.k8s.io/leases @countersign-system`;
const leader = (component: string): string[] => [
  'create coordination.k8s.io/leases @countersign-system',
  `${READ},update coordination.k8s.io/leases [countersign-${component}.countersign-keys] @countersign-system`,
];

const servingSecrets = [
  'approver',
  'signer',
  'pcr-issuer',
  'certificate-request',
  'attester',
  'authority',
  'acme',
  'acme-responder',
  'acme-solver',
  'pod-refresher',
  'ledger',
]
  .map((component) => `countersign-${component}-serving`)
  .join(' ');

// The table of what each component may, design §2, less `update` of CA Secrets, which are patched; and
// more by what a warning takes: reading the policies that guard it.
const table: Record<string, readonly string[]> = {
  approver: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} acme.countersign.dev/acmeclustersigners`,
    `${READ} certificates.k8s.io/certificatesigningrequests`,
    'update certificates.k8s.io/certificatesigningrequests/approval',
    `approve certificates.k8s.io/signers ${both}`,
    policies('cluster-signers', 'acme-cluster-signers', 'request-metadata'),
    EVENTS,
    MEMBER,
  ],
  signer: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} certificates.k8s.io/certificatesigningrequests`,
    'update certificates.k8s.io/certificatesigningrequests/status',
    `sign certificates.k8s.io/signers ${both}`,
    policies('cluster-signers', 'request-metadata'),
    `${READ} /secrets ${cas}`,
    EVENTS,
    MEMBER,
  ],
  'pcr-issuer': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} certificates.k8s.io/podcertificaterequests`,
    'update certificates.k8s.io/podcertificaterequests/status',
    `sign certificates.k8s.io/signers ${both}`,
    'create,patch events.k8s.io/events',
    policies('cluster-signers', 'pod-certificate-requests'),
    `${READ} /secrets ${cas}`,
    MEMBER,
  ],
  'certificate-request': [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    `${READ} cert-manager.io/certificaterequests`,
    'update cert-manager.io/certificaterequests/status',
    'create,patch events.k8s.io/events',
    policies(
      'cluster-signers',
      'certificate-request-identity',
      'certificate-request-spec',
      'certificate-request-approval',
      'certificate-request-answers',
    ),
    `${READ} /secrets ${cas}`,
    MEMBER,
  ],
  attester: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    'create certificates.k8s.io/clustertrustbundles',
    'update,delete certificates.k8s.io/clustertrustbundles [example.com:workload:primary countersign.dev:serving:primary]',
    'attest certificates.k8s.io/signers [example.com/workload example.com/people countersign.dev/serving]',
    policies('cluster-signers', 'cluster-signer-status', 'attester-bundles'),
    EVENTS,
    ...leader('attester'),
  ],
  authority: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} certificates.k8s.io/clustertrustbundles`,
    'update countersign.dev/clustersigners/status',
    policies(
      'cluster-signers',
      'cluster-signer-secrets',
      'cluster-signer-status',
      'authority-secrets',
      'authority-crls',
      'revocations',
    ),
    `${READ} countersign.dev/revocations`,
    'update countersign.dev/revocations/status',
    'create /secrets @countersign-keys',
    `${READ},patch /secrets [workload-ca people-ca countersign-serving-ca] @countersign-keys`,
    'create /configmaps @countersign-keys',
    `${READ},patch /configmaps [workload-ca-crl people-ca-crl countersign-serving-ca-crl] @countersign-keys`,
    EVENTS,
    'create,list,watch coordination.k8s.io/leases @countersign-system',
    'get,update coordination.k8s.io/leases [countersign-authority.countersign-keys] @countersign-system',
    `${READ},patch /secrets [${servingSecrets}] @countersign-system`,
    `${READ},patch /configmaps [countersign-serving-ca] @countersign-system`,
  ],
  // No CA key and no credential of a solver; the demo has no ACME signer.
  acme: [
    `${READ} countersign.dev/clustersigners`,
    `${READ} acme.countersign.dev/acmeclustersigners`,
    'update acme.countersign.dev/acmeclustersigners/status',
    `${READ},create,delete acme.countersign.dev/orders`,
    `${READ},create,patch,deletecollection acme.countersign.dev/challenges`,
    'update acme.countersign.dev/orders/status,challenges/status',
    ...[
      'certificates.k8s.io/certificatesigningrequests',
      'cert-manager.io/certificaterequests',
    ].flatMap((requests) => [`${READ} ${requests}`, `update ${requests}/status`]),
    policies(
      ...['cluster-signers', 'account-keys', 'signer-status', 'orders', 'challenge-status'].map(
        (each) => `acme-${each}`,
      ),
      ...['acme-revocation', 'acme-answers', 'certificate-request-identity'],
      ...['certificate-request-spec', 'certificate-request-approval', 'request-metadata'],
    ),
    'create,patch events.k8s.io/events',
    ...leader('acme'),
  ],
  // It faces the Internet: no Secret, no Lease, no Event, nothing to write.
  'acme-responder': ['list,watch acme.countersign.dev/challenges'],
  'acme-solver': [
    'list,watch acme.countersign.dev/challenges,acmeclustersigners',
    'patch acme.countersign.dev/challenges/status',
    policies('acme-challenge-status'),
    'create,patch events.k8s.io/events',
    policies('acme-cluster-signers', 'acme-account-keys', 'acme-orders', 'acme-challenge-status'),
    'list,create,patch,delete networking.k8s.io/ingresses @countersign-system',
    'list,create,patch,delete gateway.networking.k8s.io/httproutes @countersign-system',
    ...leader('acme-solver'),
  ],
  // No Secret; what a patch may change is in the policy.
  'pod-refresher': [
    'list,watch /namespaces',
    'list,watch,patch apps/deployments,statefulsets,daemonsets',
    'get,list /pods',
    'create /pods/eviction',
    'list,watch policy/poddisruptionbudgets',
    'list,watch cert-manager.io/certificates,certificaterequests',
    'list,watch certificates.k8s.io/podcertificaterequests,clustertrustbundles',
    'create,patch events.k8s.io/events',
    policies('refreshed-workloads', 'refreshed-pods'),
    ...leader('pod-refresher'),
  ],
  ledger: [
    'create authentication.k8s.io/tokenreviews',
    'get admissionregistration.k8s.io/validatingadmissionpolicies,validatingadmissionpolicybindings [countersign-leases countersign-leases-deleted]',
    'get,update /secrets [countersign-ledger-key] @countersign-system',
    'get,patch /configmaps [countersign-ledger-checkpoints] @countersign-system',
    ...leader('ledger'),
  ],
};

test('acme marks Certificates only where that is granted, and watches the policy that holds it then', () => {
  const acme = { signers: ['example.com/public'], secrets: [] };
  const named = { ...DEMO, optionalComponents: ['acme'] };
  const [without, granted] = [acme, { ...acme, renewCertificates: true }].map((each) =>
    linesOf('acme', { ...named, acme: each }),
  );
  const more = granted?.filter((line) => without?.includes(line) === false) ?? [];
  assert.deepEqual(more.slice(0, 2), [
    'get cert-manager.io/certificates',
    'update cert-manager.io/certificates/status',
  ]);
  assert.ok(more[2]?.includes(' countersign-acme-renewals '), more[2]);
  assert.equal(more.length, 3);
});

test('a component that is left out by default has roles where it is named, and only there', () => {
  assert.ok(!renderRbac(DEMO).has('acme-responder.yaml'));
  const named = renderRbac({ ...DEMO, optionalComponents: ['acme-responder'] });
  assert.ok(named.has('acme-responder.yaml'));
  assert.throws(() => renderRbac({ ...DEMO, optionalComponents: ['signer'] }), {
    code: 'USAGE',
    message: /"signer" is no component that can be left out; write one of /,
  });
});

for (const [component, lines] of Object.entries(table)) {
  test(`the roles of ${component} hold what the table says and nothing else`, () => {
    assert.deepEqual(linesOf(component), lines);
  });
}

test('the table has every component', () => {
  assert.deepEqual(components.sort(), Object.keys(table).sort());
});

test('no rule has a wildcard, and none an empty list, which RBAC reads as all', () => {
  for (const component of components) {
    for (const rule of rolesOf(component).flatMap(({ rules = [] }) => rules)) {
      const texts = Object.values(rule).flatMap((list: readonly string[]) => list);
      assert.ok(!texts.some((text) => text.includes('*')), component);
      assert.notEqual(rule.resourceNames?.length, 0, component);
    }
  }
});

test('every role is bound to its own ServiceAccount and to nobody else', () => {
  for (const component of components) {
    const all = rolesOf(component) as readonly (Role & Record<string, unknown>)[];
    const roles = all.filter(({ kind }) => kind.endsWith('Role'));
    const bindings = all.filter(({ kind }) => kind.endsWith('Binding'));
    assert.equal(roles.length, bindings.length);
    for (const binding of bindings) {
      assert.deepEqual(binding['subjects'], [
        {
          kind: 'ServiceAccount',
          name: `countersign-${component}`,
          namespace: 'countersign-system',
        },
      ]);
    }
  }
});

test('without a bundle or a Secret the rules about them vanish, rather than hold for all', () => {
  const bare = { ...DEMO, bundles: [], secrets: [] };
  // The ledger's own key is no CA's.
  const named = ['attester', 'authority', 'ledger'];
  const others = components.filter((component) => !named.includes(component));
  for (const component of others) {
    assert.ok(!linesOf(component, bare).some((line) => line.includes('secrets')), component);
  }
});

test('the CA of our own ports is named to who publishes and who makes it, and to nobody else', () => {
  for (const component of components) {
    const names = linesOf(component).some((line) =>
      /countersign\.dev[/:]serving|serving-ca/.test(line),
    );
    assert.equal(names, ['attester', 'authority'].includes(component), component);
  }
});

test('another signer name for our own ports takes the place of the shipped one', () => {
  const own = { ...DEMO, servingSigner: 'acme.example/ports' };
  assert.ok(linesOf('attester', own).some((line) => line.includes('acme.example:ports:primary')));
  assert.ok(!linesOf('attester', own).some((line) => line.includes('countersign.dev/serving')));
});

test('one role a namespace, also where keys and Events share one', () => {
  const roles = rolesOf('signer', { ...DEMO, secrets: [{ namespace: 'default', name: 'ca' }] });
  const where = roles.filter(({ kind }) => kind === 'Role').map((each) => each.metadata.namespace);
  assert.deepEqual(where, ['default', 'countersign-system']);
});

test('pod-refresher reads the Secrets that are named to it, and none of a CA', () => {
  const secret = { namespace: 'team-a', name: 'web-tls' };
  const lines = linesOf('pod-refresher', { ...DEMO, refreshSecrets: [secret] });
  assert.ok(lines.includes('list,watch /secrets [web-tls] @team-a'));
  for (const wrong of [
    { namespace: 'countersign-keys', name: 'workload-ca' },
    { namespace: 'countersign-keys', name: 'other' },
    { namespace: 'countersign-system', name: 'countersign-signer-serving' },
  ]) {
    assert.throws(() => renderRbac({ ...DEMO, refreshSecrets: [wrong] }), { code: 'USAGE' });
  }
});

const refused: [law: string, change: Partial<Installation>, code: string, message: RegExp][] = [
  ['no signer', { signers: [] }, 'USAGE', /name at least one signer/],
  ['a quote in a signer name', { signers: ["a.b/c'"] }, 'SIGNER_NAME_INVALID', /DNS labels/],
  ['a wildcard', { signers: ['example.com/*'] }, 'SIGNER_NAME_INVALID', /DNS labels/],
  [
    "another signer's bundle",
    { bundles: ['a.b:c:d'] },
    'USAGE',
    /does not belong to one of these signers/,
  ],
  ['a bundle without a name', { bundles: ['example.com:workload:'] }, 'USAGE', /write example/],
  ['a wrong namespace', { namespace: 'A' }, 'USAGE', /"A" is not a valid name of a namespace/],
  [
    'a wrong Secret',
    { secrets: [{ namespace: 'keys', name: 'a b' }] },
    'USAGE',
    /is not a valid name of a Secret/,
  ],
  [
    'keys beside the components',
    { secrets: [{ namespace: 'countersign-system', name: 'ca' }] },
    'USAGE',
    /keys into a namespace of their own/,
  ],
];

for (const [law, change, code, message] of refused) {
  test(`${law} is refused`, () => {
    assert.throws(() => renderRbac({ ...DEMO, ...change }), { code, message });
    assert.throws(() => renderAdmission({ ...DEMO, ...change }), { code, message });
  });
}
