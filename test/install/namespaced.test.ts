// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { Installation } from '#install/installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { components, linesOf } from './roles.ts';

const READ = 'get,list,watch';
const both = '[example.com/workload example.com/people]';

const OPTED_IN: Installation = {
  ...DEMO,
  namespacedSigners: true,
  signerSecrets: [
    { namespace: 'team-a', name: 'team-ca' },
    { namespace: 'team-b', name: 'ca' },
  ],
};

const withDerived = '[example.com/workload example.com/people signers.countersign.dev/*]';
const acmeNames = 'acmesigners.acme.countersign.dev/*';
const withAcme = `[example.com/workload example.com/people ${acmeNames} signers.countersign.dev/*]`;
const teams = [`${READ} /secrets [team-ca] @team-a`, `${READ} /secrets [ca] @team-b`];
/**
 * Reading the policies that authority relies on: with Signers, who writes their status is one of
 * them.
 */
function policiesOfAuthority(ofSigners: boolean): string {
  const names = [
    'cluster-signers',
    'cluster-signer-secrets',
    'cluster-signer-status',
    'cluster-signer-upstreams',
    'cluster-signer-vaults',
    ...(ofSigners ? ['signer-status'] : []),
    'authority-secrets',
    'authority-certificate-requests',
    'authority-crls',
    'revocations',
    'component-metadata',
    'events',
    'leases',
    'leases-deleted',
  ].map((each) => `countersign-${each}`);
  const kinds = 'validatingadmissionpolicies,validatingadmissionpolicybindings';
  return `get admissionregistration.k8s.io/${kinds} [${names.join(' ')}]`;
}

/** What Signers publish, in each namespace where the Secret of one was granted. */
const ofSignerTrust = [...new Set(teams.map((line) => line.slice(line.indexOf('@'))))].map(
  (at) => `list,watch,create,patch,delete /configmaps [signers.countersign.dev] ${at}`,
);

/** Component → what the opt-in to Signers of namespaces changes: rules that go, rules that come. */
const optIn: Record<string, readonly [readonly string[], readonly string[]]> = {
  approver: [
    [
      `approve certificates.k8s.io/signers ${both}`,
      `${READ} acme.countersign.dev/acmeclustersigners`,
    ],
    [
      `approve certificates.k8s.io/signers ${withAcme}`,
      `${READ} acme.countersign.dev/acmeclustersigners,acmesigners`,
    ],
  ],
  ledger: [[], []],
  notifier: [
    ['list,watch acme.countersign.dev/acmeclustersigners'],
    ['list,watch acme.countersign.dev/acmeclustersigners,acmesigners'],
  ],
  signer: [
    [`sign certificates.k8s.io/signers ${both}`],
    [`sign certificates.k8s.io/signers ${withDerived}`, ...teams],
  ],
  'pcr-issuer': [
    [`sign certificates.k8s.io/signers ${both}`],
    [`sign certificates.k8s.io/signers ${withDerived}`, ...teams],
  ],
  'certificate-request': [[], teams],
  authority: [
    ['update countersign.dev/clustersigners/status', policiesOfAuthority(false)],
    [
      'update countersign.dev/clustersigners/status,signers/status',
      policiesOfAuthority(true),
      ...teams,
    ],
  ],
  'trust-distributor': [[], ofSignerTrust],
  'acme-solver': [[], ['list,watch acme.countersign.dev/acmesigners']],
};

// It reads ClusterSigners for their names only, and AcmeSigners where others read Signers; no
// Secret of a Signer.
test('the opt-in to Signers gives acme AcmeSigners and nothing else', () => {
  const [before, after] = [linesOf('acme'), linesOf('acme', OPTED_IN)];
  assert.deepEqual(
    after.filter((line) => !before.includes(line)),
    [
      `${READ} acme.countersign.dev/acmesigners`,
      'update acme.countersign.dev/acmesigners/status',
      `sign certificates.k8s.io/signers [${acmeNames}]`,
    ],
  );
});

for (const component of components.filter((each) => each !== 'acme')) {
  test(`the opt-in to Signers gives ${component} what the decision says and nothing else`, () => {
    const [before, after] = [linesOf(component), linesOf(component, OPTED_IN)];
    const [gone, come] = optIn[component] ?? [[], []];
    const serves = optIn[component] !== undefined && component !== 'acme-solver';
    const reading = (kinds: string): string[] => [`${READ} countersign.dev/${kinds}`];
    const goes = [...(serves ? reading('clustersigners') : []), ...gone].sort();
    const comes = [...(serves ? reading('clustersigners,signers') : []), ...come].sort();
    assert.deepEqual(before.filter((line) => !after.includes(line)).sort(), goes);
    assert.deepEqual(after.filter((line) => !before.includes(line)).sort(), comes);
  });
}

test('a Secret of a Signer is read, and never made or written', () => {
  for (const component of components) {
    for (const line of linesOf(component, OPTED_IN).filter((each) => each.includes('@team-'))) {
      assert.ok(line.startsWith(`${READ} /secrets [`) || ofSignerTrust.includes(line), line);
    }
  }
});

test('with the opt-in the policies guard the names of all Signers as well', () => {
  for (const [file, text] of renderAdmission(OPTED_IN)) {
    if (!/^(?:pod-certificate-requests|who-may-request)/.test(file)) continue;
    assert.match(
      text,
      /\|\| object\.spec\.signerName\.startsWith\('signers\.countersign\.dev\/'\)/,
    );
  }
});

test('an installation may serve Signers of namespaces alone', () => {
  const alone = { ...OPTED_IN, signers: [], bundles: [], secrets: [] };
  assert.ok(
    linesOf('approver', alone).includes(
      `approve certificates.k8s.io/signers [${acmeNames} signers.countersign.dev/*]`,
    ),
  );
});

for (const [law, change, message] of [
  ['a Secret of a Signer without the opt-in', { namespacedSigners: false }, /--namespaced-signers/],
  [
    'a derived name spelled out',
    { signers: ['signers.countersign.dev/team-a.web'] },
    /name of a namespaced Signer/,
  ],
  [
    'the Secret of a Signer beside the components',
    { signerSecrets: [{ namespace: 'countersign-system', name: 'ca' }] },
    /keys into a namespace of their own/,
  ],
  [
    'the Secret of a CA beside the ServiceAccounts of Kubernetes',
    { secrets: [{ namespace: 'kube-system', name: 'ca' }] },
    /is in the namespace of Kubernetes itself/,
  ],
  [
    'the key of an ACME account beside the ServiceAccounts of Kubernetes',
    {
      acme: {
        signers: ['example.com/public'],
        secrets: [],
        accountKeys: [{ namespace: 'kube-system', name: 'account' }],
      },
    },
    /is in the namespace of Kubernetes itself/,
  ],
] as const) {
  test(`${law} is refused`, () => {
    assert.throws(() => renderRbac({ ...OPTED_IN, ...change }), { code: 'USAGE', message });
  });
}
