// SPDX-License-Identifier: Apache-2.0
/** A component that is switched off leaves no object of its own in the installation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPONENTS } from '#install/component-list.ts';
import { installationFiles } from '#install/files.ts';
import { checkedPlanOf } from '#install/values/plan.ts';
import { toManagedObject, titleOf } from '#kube/apply/objects/managed-object.ts';

const OPTIONAL = [...COMPONENTS].flatMap(([name, { optional }]) =>
  optional === undefined ? [] : [name],
);
const PARTS = {
  signers: [{ name: 'example.com/workload' }],
  networkPolicy: { enabled: true },
  serviceMonitor: { enabled: true },
};

/** The objects with the label of the component. */
function objectsOf(component: string, components: object): readonly string[] {
  const values = { ...PARTS, components };
  const plan = checkedPlanOf(values, { namespace: 'default', version: '0.0.0' });
  return [...installationFiles(plan).values()]
    .flat()
    .map(toManagedObject)
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component)
    .map(titleOf);
}

for (const component of OPTIONAL)
  test(`${component} that is switched off has no Service, Secret or other object`, () => {
    assert.deepEqual(objectsOf(component, { [component]: { enabled: false } }), []);
  });

test('a component that is switched on has its Service and the Secret of its port', () => {
  const objects = objectsOf('certificate-request', { 'certificate-request': { enabled: true } });
  for (const title of [
    'Service countersign-system/countersign-certificate-request',
    'Secret countersign-system/countersign-certificate-request-serving',
  ])
    assert.ok(objects.includes(title), objects.join());
});
