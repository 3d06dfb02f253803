// SPDX-License-Identifier: Apache-2.0
/** What the writer of a Countersign says of the ledger. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { titleOf } from '#kube/apply/objects/managed-object.ts';
import { installationValues } from '#install/values/schema.ts';
import { AGGREGATED, ALLOWED, FACTS_SPEC, grantsOf, made, refused, SPEC } from './specs.ts';

const ENABLED = { components: { ledger: { enabled: true } } };

for (const [field, value] of Object.entries({
  mode: 'off',
  postgres: { secret: 'x' },
  checkpoints: { webhook: 'https://collector.example/' },
  retention: '1d',
  omit: ['user'],
})) {
  test(`only an administrator sets spec.ledger.${field}, which may leave gaps`, () => {
    const given = { ...ENABLED, ledger: { [field]: value } };
    assert.match(
      refused(given),
      new RegExp(`^DangerZoneNotAllowed: spec\\.ledger\\.${field}: .*--allow-danger-zone`),
    );
    assert.equal(refused(given, ALLOWED), 'accepted');
  });
}

test('the operator’s own rules name the Secrets that the ledger may read', () => {
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

test('letting components read the ledger needs no rights beyond those of the ledger', () => {
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

test('spec.ledger.facts reaches roles and Deployments of two components only', () => {
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

const apiServices = (
  objects: readonly { readonly kind: string }[],
): readonly { readonly kind: string }[] => objects.filter(({ kind }) => kind === 'APIService');

test('the API server serves the ledger only if an administrator permits the choice', () => {
  const spec = { ...SPEC, components: { ledger: { enabled: true, replicas: 2 } } };
  const without = made({ ...SPEC, ...ENABLED });
  assert.deepEqual(apiServices(without.objects), []);
  // What a former version or spec made goes.
  assert.ok(without.removable.has('APIService v1alpha1.ledger.countersign.dev'));
  assert.ok(without.removable.has('Role kube-system/countersign-ledger'));
  assert.equal(apiServices(made({ ...spec, ledger: AGGREGATED }, ALLOWED).objects).length, 1);
  const refusal = refused({ ...spec, ledger: AGGREGATED });
  assert.match(refusal, /^DangerZoneNotAllowed: spec\.ledger\.aggregatedApi: while the ledger is/);
});
