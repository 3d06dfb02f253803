// SPDX-License-Identifier: Apache-2.0
/** Deployments of another program: `uninstall` prints the one way that removes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stillInstalled } from '#cli/commands/install/removal.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

const deployment = (metadata: object): ManagedObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'countersign-signer', namespace: 'sys', uid: 'u', ...metadata },
});

const HELM = {
  annotations: { 'meta.helm.sh/release-name': 'pki', 'meta.helm.sh/release-namespace': 'releases' },
};
const owner = { apiVersion: 'operator.countersign.dev/v1alpha1', kind: 'Countersign' };
const WAYS = [
  ['Helm', HELM, /helm uninstall pki -n releases$/],
  ['the operator', { ownerReferences: [owner] }, /kubectl delete countersigns\/cluster$/],
  ['kubectl', {}, /what kubectl applied goes by: kubectl delete \S+ -A -l /],
] as const;

for (const [program, metadata, command] of WAYS)
  test(`what ${program} installed has the way of ${program}, and no other`, () => {
    const text = stillInstalled([deployment(metadata), deployment(metadata)]);
    assert.match(text, /^installed by another program: deployment\/countersign-signer -n sys, /);
    for (const [, , each] of WAYS) assert.equal(each.test(text), each === command, text);
    assert.equal(text.match(/helm uninstall|kubectl delete/g)?.length, 1, text);
  });

test('Deployments of two programs have the ways of both', () => {
  const text = stillInstalled([deployment(HELM), deployment({})]);
  assert.match(text, /helm uninstall pki -n releases, and what kubectl applied goes by: kubectl/);
});

test('kubectl deletes Deployments before the bindings that name their namespaces', () => {
  assert.match(stillInstalled([deployment({})]), /[ ,]deployments\.apps,.*,clusterrolebindings\./);
});
