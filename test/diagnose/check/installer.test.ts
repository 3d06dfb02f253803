// SPDX-License-Identifier: Apache-2.0
/**
 * Advice fits how Countersign was installed: what Helm or the operator manages, nobody else writes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckId } from '#diagnose/check/catalogue.ts';
import { installerOf, type Installer } from '#diagnose/check/installer.ts';
import { installed, findingsOf, lease } from './well.ts';

const HELM = {
  'meta.helm.sh/release-name': 'pki',
  'meta.helm.sh/release-namespace': 'countersign-system',
};
const OWNERS = [{ apiVersion: 'operator.countersign.dev/v1alpha1', kind: 'Countersign' }];
const INSTALL = [{ manager: 'countersign-install', operation: 'Apply' }];
const EDIT = [{ manager: 'countersign-install', operation: 'Update' }];
const OTHER_OWNERS = [{ apiVersion: 'example.com/v1', kind: 'Countersign' }];

test('the installer is told by the objects themselves', () => {
  for (const [metadata, installer] of [
    [{}, { kind: 'manifests' }],
    [{ annotations: HELM }, { kind: 'helm', release: 'pki', namespace: 'countersign-system' }],
    [{ ownerReferences: OWNERS }, { kind: 'operator' }],
    [{ ownerReferences: OTHER_OWNERS }, { kind: 'manifests' }],
    // The operator adopts what Helm installed, and leaves Helm's annotations.
    [{ ownerReferences: OWNERS, annotations: HELM }, { kind: 'operator' }],
    [{ annotations: { 'meta.helm.sh/release-name': 'pki' } }, { kind: 'manifests' }],
    [{ managedFields: INSTALL }, { kind: 'install' }],
    [{ managedFields: EDIT }, { kind: 'manifests' }],
    // A program that adopts an installation keeps the managed fields of the previous installer.
    [{ managedFields: INSTALL, ownerReferences: OWNERS }, { kind: 'operator' }],
    [
      { managedFields: INSTALL, annotations: HELM },
      { kind: 'helm', release: 'pki', namespace: 'countersign-system' },
    ],
  ] as const) {
    assert.deepEqual(installerOf([{}, metadata]), installer, JSON.stringify(metadata));
  }
  assert.deepEqual(installerOf([]), { kind: 'manifests' });
});

const LACKS = {
  'countersign.dev/serving': JSON.stringify({
    checked: '',
    namespaced: false,
    faults: [{ reason: 'MissingPermissions', message: 'lacks: get secrets', stops: true }],
  }),
};

const FAULTS: readonly (readonly [CheckId, object])[] = [
  ['definitions-installed', { definitions: { value: [] } }],
  ['roles-complete', { roles: { value: new Map() } }],
  ['policies-equal', { policies: { value: new Map() } }],
  ['components-report-no-faults', { leases: { value: [lease('signer', { annotations: LACKS })] } }],
  ['versions-equal', { deployments: { value: twoImages() } }],
];

function twoImages(): readonly object[] {
  assert.ok('value' in installed.deployments);
  return installed.deployments.value.map((each, index) => ({ ...each, image: `x:${index % 2}` }));
}

const ALLOWED: readonly (readonly [Installer, RegExp])[] = [
  [
    { kind: 'helm', release: 'a b', namespace: 'n' },
    /^(?:helm upgrade 'a b' deploy\/chart --namespace n |kubectl apply --server-side --force-conflicts -f deploy\/crds)/,
  ],
  [{ kind: 'operator' }, /kubectl describe countersigns cluster/],
  [{ kind: 'install' }, /countersign install --values values\.yaml --force-conflicts$/],
  [{ kind: 'manifests' }, /^countersign manifests --values values\.yaml|deploy\/crds/],
];

for (const [installer, pattern] of ALLOWED) {
  test(`what is managed by ${installer.kind} is put right by it`, () => {
    for (const [id, changes] of FAULTS) {
      const found = findingsOf(id, { installed: { ...changes, installer } });
      assert.ok(found.length > 0 && found.every(({ severity }) => severity !== 'ok'), id);
      for (const { remediation = '' } of found) {
        assert.match(remediation, pattern, id);
        assert.equal(
          /helm/.test(remediation),
          installer.kind === 'helm' && id !== 'definitions-installed',
        );
      }
    }
  });
}

test('helm upgrade takes back what another client owns by now', () => {
  const installer = { kind: 'helm', release: 'pki', namespace: 'pki' } as const;
  for (const [id, changes] of FAULTS.filter(([each]) => each !== 'definitions-installed')) {
    const [found] = findingsOf(id, { installed: { ...changes, installer } });
    assert.match(found?.remediation ?? '', / --reset-then-reuse-values --force-conflicts$/, id);
  }
});
