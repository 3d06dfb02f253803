// SPDX-License-Identifier: Apache-2.0
/** Advice fits how Countersign was installed: what Helm or the operator manages, nobody else writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckId } from '../../src/checks/catalogue.ts';
import { installerOf, type Installer } from '../../src/checks/installer.ts';
import { installed, findingsOf, lease } from './well.ts';

const HELM = {
  'meta.helm.sh/release-name': 'pki',
  'meta.helm.sh/release-namespace': 'countersign-system',
};
const MARK = { 'operator.countersign.dev/managed-by': 'countersign' };

test('the installer is told by the objects themselves', () => {
  for (const [metadata, installer] of [
    [{}, { kind: 'manifests' }],
    [{ annotations: HELM }, { kind: 'helm', release: 'pki', namespace: 'countersign-system' }],
    [{ labels: MARK }, { kind: 'operator' }],
    // The operator adopts what Helm installed, and leaves Helm's annotations.
    [{ labels: MARK, annotations: HELM }, { kind: 'operator' }],
    [{ labels: { 'operator.countersign.dev/managed-by': 'other' } }, { kind: 'manifests' }],
    [{ annotations: { 'meta.helm.sh/release-name': 'pki' } }, { kind: 'manifests' }],
  ] as const) {
    assert.deepEqual(installerOf([{}, metadata]), installer, JSON.stringify(metadata));
  }
  assert.deepEqual(installerOf([]), { kind: 'manifests' });
});

const LACKS = {
  'countersign.dev/serving': JSON.stringify({
    ...{ checked: '', namespaced: false },
    faults: [{ reason: 'RightMissing', message: 'lacks: get secrets', stops: true }],
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
  [{ kind: 'operator' }, /kubectl describe countersign cluster/],
  [{ kind: 'manifests' }, /countersign rbac --from-cluster|deploy\/crds|apply the manifests/],
];

for (const [installer, pattern] of ALLOWED) {
  test(`what is managed by ${installer.kind} is put right by it`, () => {
    for (const [id, changes] of FAULTS) {
      const found = findingsOf(id, { installed: { ...changes, installer } });
      assert.ok(found.length > 0 && found.every(({ severity }) => severity !== 'ok'), id);
      for (const { todo = '' } of found) {
        assert.match(todo, pattern, id);
        assert.equal(
          /helm/.test(todo),
          installer.kind === 'helm' && id !== 'definitions-installed',
        );
      }
    }
  });
}
