// SPDX-License-Identifier: Apache-2.0
/**
 * Each check of `countersign check`: well where all is well, and what it says where one thing is
 * not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE, type CheckId } from '#diagnose/check/catalogue.ts';
import type { InstallationFacts, KubernetesFacts } from '#diagnose/check/facts.ts';
import { runChecks } from '#diagnose/check/run-checks.ts';
import { HOUR, at, print, state } from '../../operations/signer-states.ts';
import { CORPORATE, INTERMEDIATE, PARTNER } from './intermediate-anchors.ts';
import {
  findingsOf,
  installed,
  kubernetes,
  lease,
  leasesWithout,
  RELEASE,
  signersOf,
  waiting,
} from './well.ts';

test('where all is well each check says so once', () => {
  const findings = runChecks({ kubernetes, installed, release: RELEASE });
  const pre = ['may-install', 'ledger-possible'];
  const ids = [...CATALOGUE.keys()].filter((id) => !pre.includes(id));
  assert.deepEqual(
    findings.map(({ id, severity }) => [id, severity]),
    ids.map((id) => [id, 'ok']),
  );
});

test('--pre looks at the cluster and at what the user may do, and at no installation', () => {
  const findings = runChecks({ kubernetes, mayInstall: [], release: RELEASE });
  assert.deepEqual(
    [...new Set(findings.map(({ id }) => CATALOGUE.get(id)?.group))],
    ['kubernetes'],
  );
  assert.ok(findings.some(({ id }) => id === 'may-install'));
});

interface Case {
  readonly id: CheckId;
  readonly when: string;
  readonly severity: 'warning' | 'error';
  readonly kubernetes?: Partial<KubernetesFacts>;
  readonly installed?: Partial<InstallationFacts>;
  readonly says: RegExp;
}

const ready = (status: 'True' | 'False', reason: string): InstallationFacts['signers'] => ({
  value: signersOf(state({ conditions: [{ type: 'Ready', status, reason, message: 'because' }] })),
});

/** A signer with `profile.crl`. */
const withCrl = (crl: object): ReturnType<typeof state> => state({ spec: { profile: { crl } } });

const own = installed.deployments;
assert.ok('value' in own);
const [first, ...others] = own.value;
assert.ok(first !== undefined);

assert.ok('value' in installed.roles);
const roles = new Map([
  ...installed.roles.value,
  [
    'signer',
    (installed.roles.value.get('signer') ?? []).filter(({ verbs }) => !verbs.includes('sign')),
  ],
]);

const CASES: readonly Case[] = [
  {
    id: 'api-server-version',
    when: 'the API server is too old',
    severity: 'error',
    kubernetes: { version: { value: 'v1.35.9' } },
    says: /v1\.35\.9/,
  },
  {
    id: 'pod-certificates-served',
    when: 'one kind is not served',
    severity: 'error',
    kubernetes: { served: { value: { podcertificaterequests: ['v1'], clustertrustbundles: [] } } },
    says: /no clustertrustbundles/,
  },
  {
    id: 'clock-offset',
    when: 'the clock is a minute ahead',
    severity: 'warning',
    kubernetes: { clockOffset: 60_000 },
    says: /60 s ahead/,
  },
  {
    id: 'clock-offset',
    when: 'the clock is an hour behind',
    severity: 'error',
    kubernetes: { clockOffset: -3_600_000 },
    says: /3600 s behind/,
  },
  {
    id: 'kubelet-versions',
    when: 'a kubelet is older',
    severity: 'warning',
    kubernetes: { kubelets: { value: [{ node: 'old', version: 'v1.34.2' }] } },
    says: /v1\.34\.2/,
  },
  ...[
    ['certificates.k8s.io', 'podcertificaterequests/status'],
    ['*', '*/*'],
    ['*', '*'],
  ].map(([group = '', resource = '']): Case => ({
    id: 'foreign-webhooks',
    when: `a webhook sees ${group} ${resource}`,
    severity: 'warning',
    kubernetes: {
      webhooks: {
        value: [
          {
            configuration: 'validatingwebhookconfiguration/x',
            name: 'x.example.com',
            rules: [{ apiGroups: [group], resources: [resource] }],
          },
        ],
      },
    },
    says: /x\.example\.com fails closed: .*, the API server rejects writes of (?:\S+|all resources of .+)$/,
  })),
  {
    id: 'definitions-installed',
    when: 'one is missing',
    severity: 'error',
    installed: { definitions: { value: [] } },
    says: /not installed/,
  },
  {
    id: 'definitions-installed',
    when: 'they are of another version',
    severity: 'warning',
    installed: {
      definitions: {
        value: ['clustersigners.countersign.dev', 'signers.countersign.dev'].map((name) => ({
          name,
          established: true,
          served: ['v1alpha1'],
          release: '9.0.0',
        })),
      },
    },
    says: /version 9\.0\.0/,
  },
  {
    id: 'components-running',
    when: 'a Lease was not renewed',
    severity: 'error',
    installed: {
      leases: { value: [...leasesWithout('signer'), lease('signer', {}, 60_000)] },
    },
    says: /no replica of signer/,
  },
  {
    id: 'replicas-available',
    when: 'one of two is away',
    severity: 'warning',
    installed: { deployments: { value: [{ ...first, available: 1 }, ...others] } },
    says: /1 of 2/,
  },
  {
    id: 'replicas-available',
    when: 'all are away',
    severity: 'error',
    installed: { deployments: { value: [{ ...first, available: 0 }, ...others] } },
    says: /0 of 2/,
  },
  {
    id: 'versions-equal',
    when: 'an upgrade is not finished',
    severity: 'warning',
    installed: { deployments: { value: [{ ...first, image: 'x:2' }, ...others] } },
    says: /x:2/,
  },
  {
    id: 'components-report-no-faults',
    when: 'one reports a fault',
    severity: 'error',
    installed: {
      leases: {
        value: [
          lease('signer', {
            annotations: {
              'countersign.dev/serving': JSON.stringify({
                checked: '',
                namespaced: false,
                faults: [
                  { reason: 'MissingPermissions', message: 'lacks: get secrets', stops: true },
                ],
              }),
            },
          }),
        ],
      },
    },
    says: /signer reports MissingPermissions for all signers: lacks: get secrets/,
  },
  {
    id: 'roles-complete',
    when: 'a role lacks a signer name',
    severity: 'error',
    installed: { roles: { value: roles } },
    says: /sign signers\.certificates\.k8s\.io "example\.com\/workload"/,
  },
  {
    id: 'policies-equal',
    when: 'the policies are gone',
    severity: 'error',
    installed: { policies: { value: new Map() } },
    says: /is not installed/,
  },
  {
    id: 'signers-valid',
    when: 'a spec is invalid',
    severity: 'error',
    installed: {
      signers: {
        value: { ...signersOf(), invalid: [{ name: 'bad', why: 'spec.x: is wrong' }] },
      },
    },
    says: /spec\.x: is wrong/,
  },
  {
    id: 'signers-ready',
    when: 'one is not',
    severity: 'error',
    installed: { signers: ready('False', 'AuthorityMissing') },
    says: /AuthorityMissing: because/,
  },
  {
    id: 'signers-ready',
    when: 'one is served by some components only',
    severity: 'warning',
    installed: { signers: ready('False', 'NotServed') },
    says: /NotServed: because/,
  },
  {
    id: 'signers-ready',
    when: 'authority has not seen its spec',
    severity: 'error',
    installed: { signers: { value: signersOf(state({ observed: 0 })) } },
    says: /has not looked/,
  },
  {
    id: 'ca-lifetime',
    when: 'the CA ends in ten days',
    severity: 'warning',
    installed: {
      signers: {
        value: signersOf(state({ authorityFields: { notAfter: at(240 * HOUR) } })),
      },
    },
    says: /in 10 days/,
  },
  {
    id: 'ca-lifetime',
    when: 'the CA has expired',
    severity: 'error',
    installed: {
      signers: { value: signersOf(state({ authorityFields: { notAfter: at(-HOUR) } })) },
    },
    says: /expired/,
  },
  {
    id: 'anchors-accepted',
    when: 'the anchor is an intermediate',
    severity: 'warning',
    installed: {
      signers: { value: signersOf(state({ authorityFields: { anchors: INTERMEDIATE } })) },
    },
    says: /"CN=Intermediate" is an anchor but not a root.* rejected by OpenSSL, .*Node, Python/,
  },
  {
    id: 'anchors-accepted',
    when: 'a foreign trust domain publishes an intermediate alone',
    severity: 'warning',
    installed: { signers: { value: { ...signersOf(state({})), federated: [PARTNER] } } },
    says: /"CN=Intermediate" is an anchor but not a root.* rejected by OpenSSL, .*Node, Python/,
  },
  {
    id: 'anchors-accepted',
    when: 'the anchor of an ExternalClusterSigner is an intermediate',
    severity: 'warning',
    installed: { external: { value: { signers: [CORPORATE], invalid: [] } } },
    says: /"CN=Intermediate" is an anchor but not a root.* rejected by OpenSSL, .*Node, Python/,
  },
  {
    id: 'anchors-accepted',
    when: 'authority has seen that a CA of the chain is rejected',
    severity: 'warning',
    installed: {
      signers: {
        value: signersOf(
          state({
            conditions: [
              { type: 'Degraded', status: 'True', reason: 'AnchorRejected', message: 'by Python' },
            ],
          }),
        ),
      },
    },
    says: /by Python/,
  },
  {
    id: 'rotation-on-time',
    when: 'it is late',
    severity: 'warning',
    installed: {
      signers: {
        value: signersOf(
          state({
            conditions: [
              { type: 'RotationDue', status: 'True', reason: 'Waits', message: 'for x' },
            ],
          }),
        ),
      },
    },
    says: /RotationDue: Waits: for x/,
  },
  {
    id: 'bundles-equal',
    when: 'there is none',
    severity: 'error',
    installed: { signers: { value: signersOf(state({ bundle: undefined })) } },
    says: /does not exist/,
  },
  {
    id: 'bundles-equal',
    when: 'the anchor of the CA is missing',
    severity: 'error',
    installed: { signers: { value: signersOf(state({ served: {} })) } },
    says: new RegExp(`${print('a')} \\(Active\\) is not in its bundle`),
  },
  {
    id: 'bundles-equal',
    when: 'somebody else has an anchor in it',
    severity: 'warning',
    installed: { signers: { value: signersOf(state({ served: { a: 60, b: 60 } })) } },
    says: new RegExp(`holds ${print('b')}`),
  },
  {
    id: 'bundles-equal',
    when: 'a distrusted CA is still published',
    severity: 'error',
    installed: {
      signers: {
        value: signersOf(
          state({ authorities: { a: 'Active', b: 'Distrusted' }, served: { a: 60, b: 60 } }),
        ),
      },
    },
    says: new RegExp(`${print('b')} is distrusted and still in the bundle`),
  },
  {
    id: 'crl-distribution-points',
    when: 'CRLs are at no URL',
    severity: 'warning',
    installed: { signers: { value: signersOf(withCrl({})) } },
    says: /profile\.crl without urls: its leaves have no distribution point/,
  },
  {
    id: 'requests-answered',
    when: 'one waits for three minutes',
    severity: 'error',
    installed: { requests: { value: [waiting(180)] } },
    says: /^it has waited for a certificate of \S+ for 3m$/,
  },
  {
    id: 'requests-answered',
    when: 'a CertificateRequest of cert-manager says in Ready why it waits',
    severity: 'error',
    installed: {
      requests: { value: [waiting(180, { cause: 'NoRuleMatched: no rule allows b.example' })] },
    },
    says: /for 3m: NoRuleMatched: no rule allows b\.example$/,
  },
  {
    id: 'requests-valid',
    when: 'its signer would fail one, however short it waits',
    severity: 'warning',
    installed: {
      requests: { value: [waiting(1, { waitsForApproval: true, wouldFail: 'no purpose' })] },
    },
    says: /^if approved, it fails: no purpose$/,
  },
  {
    id: 'requests-approved',
    when: 'one waits for a person',
    severity: 'warning',
    installed: { requests: { value: [waiting(180, { waitsForApproval: true })] } },
    says: /^no rule of \S+ decides it: it has waited for a person for 3m$/,
  },
];

for (const { id, when, severity, says, ...changes } of CASES) {
  test(`${id}: ${severity} when ${when}, with what to do`, () => {
    const found = findingsOf(id, changes).filter((each) => says.test(each.why));
    assert.ok(found.length > 0, JSON.stringify(findingsOf(id, changes)));
    for (const each of found) {
      assert.equal(each.severity, severity);
      assert.notEqual(each.remediation ?? '', '');
    }
    assert.ok(!findingsOf(id, changes).some((each) => each.severity === 'ok'));
  });
}
