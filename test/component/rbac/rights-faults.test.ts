// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MissingPermission } from '#kube/client/access-review.ts';
import { rightsFaults } from '#component/rbac/rights-faults.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const ONE = workload();
const OTHER = {
  ...ONE,
  metadata: { ...ONE.metadata, name: 'other' },
  spec: {
    ...ONE.spec,
    signerName: 'example.com/other',
    authority: { secret: { namespace: 'countersign-keys', name: 'other-ca' } },
  },
};
const SIGNERS = [ONE, OTHER, teamSigner()];

const missing = (more: Partial<MissingPermission>): MissingPermission => ({
  verb: 'get',
  resource: 'x',
  name: undefined,
  namespace: undefined,
  ...more,
});

for (const [what, permission, concerned] of [
  [
    'its signer name',
    { verb: 'sign', resource: 'certificates.k8s.io/signers', name: 'example.com/other' },
    ['other'],
  ],
  [
    'its Secret',
    { resource: 'secrets', name: 'other-ca', namespace: 'countersign-keys' },
    ['other'],
  ],
  [
    'its bundle',
    {
      verb: 'update',
      resource: 'certificates.k8s.io/clustertrustbundles',
      name: 'example.com:workload:primary',
    },
    ['workload'],
  ],
] as const) {
  test(`a permission on ${what} concerns that signer and no other`, () => {
    const [fault] = rightsFaults('signer', [missing(permission)], SIGNERS);

    assert.deepEqual(fault?.signers, concerned);
  });
}

const CRLS = { verb: 'patch', resource: 'configmaps', namespace: 'countersign-keys' } as const;

test('a permission on the ConfigMap of its CRLs concerns that signer and no other', () => {
  const both = [missing({ ...CRLS, name: 'other-ca-crl' }), missing({ ...CRLS, name: 'own-tls' })];
  assert.deepEqual(
    rightsFaults('authority', both, SIGNERS).map(({ signers, stops, message }) => [
      signers,
      stops,
      /own-tls|other-ca-crl/.exec(message)?.[0],
    ]),
    [
      [['other'], false, undefined],
      // The name of another ConfigMap shows no signer.
      [undefined, false, 'own-tls'],
    ],
  );
});

test('a Secret of the same name in another namespace concerns nobody', () => {
  const other = missing({ resource: 'secrets', name: 'other-ca', namespace: 'elsewhere' });
  assert.deepEqual(rightsFaults('signer', [other], SIGNERS), []);
});

test('a permission without a name concerns all', () => {
  const [fault] = rightsFaults(
    'signer',
    [missing({ resource: 'certificates.k8s.io/certificatesigningrequests' })],
    SIGNERS,
  );
  assert.equal(fault?.signers, undefined);
  assert.equal(fault?.stops, true);
});

for (const resource of [
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'configmaps',
]) {
  test(`no request waits for ${resource}`, () => {
    const [fault] = rightsFaults('signer', [missing({ resource })], SIGNERS);
    assert.equal(fault?.stops, false);
  });
}

test('a rule that is lost with all its names is one fault for each verb', () => {
  const names = ['example.com/workload', 'example.com/other'];
  const lost = ['approve', 'sign'].flatMap((verb) =>
    names.map((name) => missing({ verb, resource: 'certificates.k8s.io/signers', name })),
  );
  const faults = rightsFaults('signer', lost, SIGNERS);
  assert.deepEqual(
    faults.map(({ signers }) => signers),
    [
      ['workload', 'other'],
      ['workload', 'other'],
    ],
  );
  assert.match(
    faults[0]?.message ?? '',
    /countersign-signer lacks: approve certificates\.k8s\.io\/signers \(/,
  );
});
