// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findingsOf } from '../../diagnose/check/well.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import { FLAG_SCHEMAS } from '#install/operator/check-flags.ts';
import { planOf } from '#install/values/plan.ts';
import { installationFiles } from '#install/files.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { permissionNamesOf } from '#install/names.ts';
import {
  ACME_SPEC,
  ALLOWED,
  FACTS_SPEC,
  SETTINGS,
  SPEC,
  grantsOf,
  made,
  refused,
} from './specs.ts';

test('installs every patch of a minor version with a flag schema, and no other', () => {
  const flagSchemas = { '0.1': FLAG_SCHEMAS['0.1'] ?? {}, '0.2': FLAG_SCHEMAS['0.1'] ?? {} };
  const two = { ...SETTINGS, flagSchemas };
  for (const version of ['0.1.0', '0.1.99', '0.2.3']) made({ ...SPEC, version }, two);
  for (const version of ['0.0.9', '0.3.0', '1.1.0', '0.1', '0.1.0-rc.1', 'latest'])
    assert.match(refused({ version }, two), /^UnsupportedVersion: .*installs 0\.1\.x and 0\.2\.x/);
  assert.equal(made({ ...SPEC, version: '0.1.5' }, two).oldest, true);
  assert.equal(made({ ...SPEC, version: '0.2.0' }, two).oldest, false);
  assert.equal(made(SPEC).oldest, false);
});

test('the operator, the chart and check require the same Kubernetes', () => {
  const { minKubernetesMinor: minor } = made(SPEC);
  const chart = readFileSync(join(import.meta.dirname, '../../../deploy/chart/Chart.yaml'), 'utf8');
  assert.match(chart, new RegExp(`^kubeVersion: '>=1\\.${minor}\\.0-0'$`, 'm'));
  const severities = [minor - 1, minor].map((each) => {
    const version = { value: `v1.${each}.9` };
    return findingsOf('api-server-version', { kubernetes: { version } })[0]?.severity;
  });
  assert.deepEqual(severities, ['error', 'ok']);
});

test('the objects are the chart’s for the same values, with the operator’s image', () => {
  const values = { signers: SPEC.signers, namespace: 'countersign-system' };
  const plan = planOf(values, { namespace: '', version: '0.1.0' });
  const reference = 'r.example/c:0.1.0';
  const files = installationFiles({ ...plan, image: { ...plan.image, reference } });
  const definitions = made(SPEC).objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  assert.deepEqual(made(SPEC).objects, [...definitions, ...[...files.values()].flat()]);
  assert.ok(definitions.length >= 2);
});

test('an image of another repository is refused, whatever its tag or digest', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  for (const reference of ['r.example/c:9', `r.example/c@${digest}`, 'other.example:5000/c:1'])
    assert.equal(refused({ image: { reference } }), 'accepted', reference);
  for (const reference of [
    'evil.example/c:1',
    'r.example/c2:1',
    'other.example:5000',
    'r.example/c/d',
  ])
    assert.match(refused({ image: { reference } }), /^ImageNotAllowed: /, reference);
});

test('what the chart would refuse is refused, with the field', () => {
  assert.match(refused({ signers: [] }), /^InvalidSpec: spec\.signers: it is empty/);
  assert.match(refused({ components: { nobody: {} } }), /^InvalidSpec: .*nobody/);
  assert.match(refused({ signers: [{ name: 'kubernetes.io/x' }] }), /^InvalidSpec: /);
});

const SPECS = { 'CAs of its own': SPEC, ACME: ACME_SPEC, 'a ledger that is read': FACTS_SPEC };

for (const [what, spec] of Object.entries(SPECS)) {
  test(`the operator has every permission of each component it installs, for ${what}`, () => {
    const held = new Set(made(spec, ALLOWED).rules.flatMap(grantsOf));
    const { signers, acme, ledger, components } = spec;
    const values = { signers, acme, ledger, components };
    const plan = planOf(values, { namespace: 'countersign-system', version: '' });
    const needed = [...COMPONENTS]
      .filter(([component]) => plan.components.has(component))
      .flatMap(([, each]) => each.permissions(permissionNamesOf(each, plan.installation)))
      .flatMap(grantsOf);
    // By its name, or by any name.
    const byAny = (one: string): string => one.replace(/^((?:\S* ){3})\S+/, '$1*');
    const lacking = needed.filter((one) => !held.has(one) && !held.has(byAny(one)));
    assert.deepEqual(lacking, []);
  });
}

test('it may write installed objects by name only, without a wildcard', () => {
  const rules = [SPEC, ACME_SPEC].flatMap((spec) => made(spec).rules);
  assert.doesNotMatch(JSON.stringify(rules), /\*|escalate|bind"|impersonate|mutatingadmission/);
  const managed =
    /^(?:roles|rolebindings|clusterroles|clusterrolebindings|deployments|services|serviceaccounts|customresourcedefinitions|validating.*|flowschemas|prioritylevelconfigurations|poddisruptionbudgets|namespaces|configmaps)$/;
  for (const rule of rules) {
    const writes = rule.verbs.some((verb) => !['get', 'list', 'watch'].includes(verb));
    if (!writes || !rule.resources.some((each) => managed.test(each))) continue;
    // Nothing that it manages is there. `authority` makes CA Secrets and CRLs there, which RBAC
    // cannot name: policies hold it.
    if (rule.namespace === 'countersign-keys') continue;
    assert.ok((rule.resourceNames ?? []).length > 0, JSON.stringify(rule));
  }
  const keys = rules.filter(({ resources }) => resources.includes('secrets'));
  assert.ok(keys.length > 0);
  for (const { namespace } of keys) assert.notEqual(namespace, undefined);
});

test('what an administrator applies for a spec has no more names than the spec', () => {
  const text = JSON.stringify(operatorManifests(SPEC, { ...SETTINGS, version: '0.1.0' }));
  assert.match(text, /example\.com\/workload/);
  assert.doesNotMatch(text, /example\.com\/people/);
  assert.throws(
    () => operatorManifests({ ...SPEC, version: '9.9.9' }, { ...SETTINGS, version: '0.1.0' }),
    /UnsupportedVersion/,
  );
});
