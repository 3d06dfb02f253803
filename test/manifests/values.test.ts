// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installationFiles } from '../../src/manifests/files.ts';
import { planOf } from '../../src/manifests/values/plan.ts';
import { BAD, GOOD } from '../install/values.ts';

const VERSION = '0.1.0';

for (const [what, [values, namespace = 'default']] of Object.entries(GOOD)) {
  test(`there is a plan for ${what}`, () => {
    const files = installationFiles(planOf(values, { namespace, version: VERSION }));
    assert.ok(files.has('deployments.yaml'));
  });
}

for (const [what, [values]] of Object.entries(BAD)) {
  test(`there is no plan for ${what}`, () => {
    assert.throws(() => planOf(values, { namespace: 'default', version: VERSION }));
  });
}

test('no rule about Secrets or signers is without names, whatever is served', () => {
  const bare = { signers: [{ name: 'example.com/a', bundle: '' }] };
  for (const values of [bare, ...Object.values(GOOD).map(([each]) => each)]) {
    const plan = planOf(values, { namespace: 'release', version: VERSION });
    const rules = [...installationFiles(plan).values()]
      .flat()
      .flatMap(({ rules: found = [] }) => found as { resourceNames?: string[]; verbs: string[] }[]);
    assert.ok(rules.length > 0);
    for (const { resourceNames, verbs } of rules)
      assert.notDeepEqual(resourceNames, [], verbs.join());
  }
});

test('the namespace of the release is not made, nor its name taken for the keys', () => {
  const namespacesOf = (namespace: string): readonly string[] =>
    planOf({ signers: [{ name: 'example.com/a' }] }, { namespace, version: VERSION }).namespaces;
  assert.deepEqual(namespacesOf('default'), ['countersign-system', 'countersign-keys']);
  assert.deepEqual(namespacesOf('pki'), ['countersign-keys']);
  assert.throws(() => namespacesOf('countersign-keys'), { code: 'USAGE' });
});
