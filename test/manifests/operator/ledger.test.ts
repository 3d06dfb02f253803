// SPDX-License-Identifier: Apache-2.0
/** What the writer of a Countersign says of the ledger. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { titleOf } from '../../../src/reconciling/objects/managed-object.ts';
import { installationValues } from '../../../src/manifests/values/schema.ts';
import { FACTS_SPEC, grantsOf, made, refused, SETTINGS, SPEC } from './specs.ts';

const ALLOWED = { ...SETTINGS, dangerZone: true };
const ENABLED = { components: { ledger: { enabled: true } } };

for (const [field, value] of Object.entries({
  mode: 'off',
  postgres: { secret: 'x' },
  checkpoints: { webhook: 'https://collector.example/' },
  retention: '1d',
  omit: ['user'],
})) {
  test(`spec.ledger.${field}, by which certificates may go unrecorded, takes an administrator`, () => {
    const given = { ...ENABLED, ledger: { [field]: value } };
    assert.match(
      refused(given),
      new RegExp(`^DangerZoneNotAllowed: spec\\.ledger\\.${field}: .*--allow-danger-zone`),
    );
    assert.equal(refused(given, ALLOWED), 'accepted');
  });
}

test('Secrets that the ledger looks at are bounded by the operator’s own rules, which name them', () => {
  const monitoredSecrets = [{ namespace: 'team-a', name: 'web-tls' }];
  const { rules } = made({ ...SPEC, ...ENABLED, ledger: { monitoredSecrets } });
  const found = rules.filter(
    ({ resources, namespace }) => resources.includes('secrets') && namespace === 'team-a',
  );
  assert.deepEqual(
    found.map(({ resourceNames, verbs }) => ({ resourceNames, verbs: [...verbs].sort() })),
    [{ resourceNames: ['web-tls'], verbs: ['list', 'watch'] }],
  );
  const ofKeys = [{ namespace: 'countersign-keys', name: 'workload-ca' }];
  assert.match(refused({ ledger: { monitoredSecrets: ofKeys } }), /^InvalidSpec: spec\.ledger/);
});

test('who writes that components read the ledger takes nothing more of the operator than the ledger does', () => {
  const held = (ledger: object): readonly string[] =>
    made({ ...FACTS_SPEC, ledger })
      .rules.flatMap(grantsOf)
      .sort();
  assert.deepEqual(held({ facts: true }), held({}));
  assert.match(
    refused({ ledger: { facts: true } }),
    /^InvalidSpec: spec\.ledger\.facts: there is no ledger to read from/,
  );
});

test('spec.ledger.facts reaches the role and the Deployment of two components, and nothing else', () => {
  const without = made({ ...FACTS_SPEC, ledger: {} }).objects;
  const changed = made(FACTS_SPEC).objects.filter(
    (each, at) => !isDeepStrictEqual(each, without[at]),
  );
  assert.deepEqual(changed.map(titleOf).sort(), [
    'ClusterRole countersign-pcr-issuer',
    'ClusterRole countersign-pod-refresher',
    'Deployment countersign-system/countersign-pcr-issuer',
    'Deployment countersign-system/countersign-pod-refresher',
  ]);
});

interface Fields {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
}

/** The paths of all fields. */
function pathsOf({ properties = {} }: Fields, at = ''): readonly string[] {
  return Object.entries(properties).flatMap(([key, value]) => [
    `${at}${key}`,
    ...pathsOf(value, `${at}${key}.`),
  ]);
}

test('the definition has the fields of the chart for the ledger, and no others', () => {
  const file = join(import.meta.dirname, '../../../deploy/crds/operator/countersigns.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly versions: readonly { schema: { openAPIV3Schema: Fields } }[] };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  const { shape } = installationValues.shape.ledger;
  const wanted = [
    ...Object.keys(shape),
    ...(['storage', 'postgres', 'checkpoints'] as const).flatMap((each) =>
      Object.keys(shape[each].shape).map((key) => `${each}.${key}`),
    ),
  ];
  assert.deepEqual([...pathsOf(schema?.properties?.['ledger'] ?? {})].sort(), wanted.sort());
});
