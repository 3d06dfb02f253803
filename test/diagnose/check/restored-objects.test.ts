// SPDX-License-Identifier: Apache-2.0
/** `check` names what somebody edited in objects that no role or policy guards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionDifferences } from '#install/definition-differences.ts';
import definitions from '#install/operator/definitions.json' with { type: 'json' };
import { flowControlOf } from '#install/workloads/availability.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { RELEASE, findingsOf, installed } from './well.ts';

const DEFINITIONS = definitions as unknown as readonly ManagedObject[];

/** A definition as the API server stores it, after a change of its first version. */
function stored(name: string, change: (version: Record<string, unknown>) => void): ManagedObject {
  const found = DEFINITIONS.find(({ metadata }) => metadata.name === name);
  assert.ok(found);
  const copy = structuredClone(found) as ManagedObject & {
    spec: { versions: Record<string, unknown>[]; conversion?: object };
  };
  copy.spec.conversion = { strategy: 'None' };
  const [version] = copy.spec.versions;
  assert.ok(version);
  change(version);
  return copy;
}

const unchanged = (): void => undefined;

test('no stored definition differs from its own file', () => {
  for (const { metadata } of DEFINITIONS)
    assert.deepEqual(definitionDifferences(stored(metadata.name, unchanged)), [], metadata.name);
  const foreign = { ...stored('orders.acme.countersign.dev', unchanged), metadata: { name: 'x' } };
  assert.deepEqual(definitionDifferences(foreign), []);
});

test('an edited schema is named by its field, whichever definition has it', () => {
  const widened = stored('orders.acme.countersign.dev', ({ schema }) => {
    Object.assign((schema as { openAPIV3Schema: object }).openAPIV3Schema, {
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });
  const without = stored('clustersigners.countersign.dev', (version) => {
    version['subresources'] = {};
  });
  for (const [live, field] of [
    [widened, '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-preserve-unknown-fields'],
    [without, '/spec/versions/0/subresources/status'],
  ] as const) {
    const differences = definitionDifferences(live);
    assert.deepEqual(differences, [field]);
    const { name } = live.metadata;
    const edited = { name, established: true, served: ['v1alpha1'], differences };
    assert.ok('value' in installed.definitions);
    const others = installed.definitions.value.filter((each) => each.name !== name);
    const of = (release: string | undefined): ReturnType<typeof findingsOf> =>
      findingsOf('definitions-installed', {
        installed: { definitions: { value: [...others, { ...edited, release }] } },
      });
    for (const release of [undefined, RELEASE]) {
      const [found, ...more] = of(release);
      assert.deepEqual([found?.severity, more], ['warning', []]);
      assert.ok(found?.why.startsWith(`its ${field} differs from that of ${RELEASE}`), found?.why);
      assert.match(
        found?.remediation ?? '',
        /^kubectl apply --server-side .* deploy\/crds(?:\/acme)?$/,
      );
    }
    // Another version is named as such.
    assert.ok(of('0.0.1').every(({ why }) => !why.startsWith('its /spec')));
  }
});

test('a missing or edited flow schema is named where components have Deployments', () => {
  const [level, schema] = flowControlOf('countersign-system') as unknown as ManagedObject[];
  assert.ok(level && schema);
  const spec = schema['spec'] as object;
  const edited = { ...schema, spec: { ...spec, matchingPrecedence: 9500 } };
  for (const [flowControl, why] of [
    [[level], /^it does not exist: under load/],
    [[level, edited], /^its \/spec\/matchingPrecedence is not what Countersign installs/],
  ] as const) {
    const [found, ...more] = findingsOf('flow-control-equal', {
      installed: { flowControl: { value: flowControl } },
    });
    assert.deepEqual(
      [found?.severity, found?.subject, more],
      ['warning', 'flowschema/countersign', []],
    );
    assert.match(found?.why ?? '', why);
    assert.match(found?.remediation ?? '', /^countersign manifests .* kubectl apply -f -/);
  }
  const elsewhere = { deployments: { value: [] }, flowControl: { value: [] } };
  const [fine] = findingsOf('flow-control-equal', { installed: elsewhere });
  assert.equal(fine?.severity, 'ok');
});
