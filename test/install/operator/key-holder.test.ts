// SPDX-License-Identifier: Apache-2.0
/** Key holders in a Countersign: what its writer may decide, and what that becomes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { keyHolder } from '#install/values/key-holder.ts';
import { ALLOWED, SPEC, grantsOf, made, refused } from './specs.ts';

const KEY = {
  name: 'workload',
  secret: 'workload-key',
  signerNames: ['example.com/workload'],
  leaf: { maxDuration: '1h' },
};
const HELD = {
  signers: [{ name: 'example.com/workload', keyHolder: true, serves: ['pods'] }],
  components: { 'pcr-issuer': { keyHolder: { keys: [KEY] } } },
};

test('what a key may sign, and which Secret has it, takes an administrator', () => {
  assert.match(
    refused(HELD),
    /^DangerZoneNotAllowed: spec\.components\."pcr-issuer"\.keyHolder: .*--allow-danger-zone/,
  );
  assert.equal(refused(HELD, ALLOWED), 'accepted');
});

test('the operator needs no right to a Secret of a CA whose key is held', () => {
  const { rules, objects } = made({ ...SPEC, ...HELD }, ALLOWED);
  const grants = rules.flatMap(grantsOf).filter((each) => each.includes(' secrets '));
  assert.deepEqual(
    grants.filter((each) => /workload|\*/.test(each) && !each.startsWith('create ')),
    [],
  );
  const deployment = objects.find(({ metadata }) => metadata.name === 'countersign-pcr-issuer');
  assert.ok(deployment);
});

test('what the chart refuses of a key holder is refused, with the field', () => {
  const wrong = { ...HELD, signers: [{ name: 'example.com/workload', keyHolder: true }] };
  assert.match(refused(wrong, ALLOWED), /^InvalidSpec: spec\.signers\[0\]\.keyHolder: /);
});

interface Fields {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
  readonly additionalProperties?: Fields;
}

/** Paths of all fields. */
function pathsOf({ properties = {}, items }: Fields, path = ''): readonly string[] {
  return [
    ...Object.entries(properties).flatMap(([name, each]) => [
      `${path}.${name}`,
      ...pathsOf(each, `${path}.${name}`),
    ]),
    ...(items === undefined ? [] : pathsOf(items, `${path}[]`)),
  ].sort();
}

test('the definition has exactly the chart’s fields for a key holder', () => {
  const root = join(import.meta.dirname, '../../..');
  const { spec } = parse(
    readFileSync(join(root, 'deploy/crds/operator/countersigns.yaml'), 'utf8'),
  ) as { readonly spec: { readonly versions: readonly { schema: { openAPIV3Schema: Fields } }[] } };
  const definition = spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  const component = definition?.properties?.['components']?.additionalProperties;
  const chart = JSON.parse(
    readFileSync(join(root, 'deploy/chart/values.schema.json'), 'utf8'),
  ) as Fields;
  const ofChart = chart.properties?.['components']?.properties?.['pcr-issuer'];
  const wanted = pathsOf(ofChart?.properties?.['keyHolder'] ?? {});
  assert.deepEqual(pathsOf(component?.properties?.['keyHolder'] ?? {}), wanted);
  assert.ok(wanted.includes('.keys[].leaf.names.ipAddresses'));
  assert.ok(Object.keys(keyHolder.shape).every((each) => wanted.includes(`.${each}`)));
});
