// SPDX-License-Identifier: Apache-2.0
/** What a Countersign says of ACME, and what takes an administrator. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { installationFiles } from '#install/files.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import { installationValues } from '#install/values/schema.ts';
import { planOf } from '#install/values/plan.ts';
import { ACME_SPEC, SETTINGS, SPEC, made, refused } from './specs.ts';

const ALLOWED = { ...SETTINGS, dangerZone: true };
const DANGEROUS = {
  servers: ['https://acme.example/directory'],
  solvers: ['rfc2136=ns.example:53'],
  networks: ['10.0.0.0/8'],
  http01Zones: ['team-a=team-a.example.com'],
  routeMetadata: ['team=edge'],
};

const acme = (more: object): object => ({ ...ACME_SPEC, acme: { ...ACME_SPEC.acme, ...more } });

for (const more of [{}, DANGEROUS]) {
  test(`as the chart: ${Object.keys(more).join(', ') || 'names alone'}`, () => {
    const { signers, components } = ACME_SPEC;
    const values = {
      signers,
      components,
      acme: { ...ACME_SPEC.acme, ...more },
      namespace: 'countersign-system',
    };
    const plan = planOf(values, { namespace: '', version: '0.1.0' });
    const reference = 'r.example/c:0.1.0';
    const files = installationFiles({ ...plan, image: { ...plan.image, reference } });
    const spec = { ...ACME_SPEC, ...acme(more) };
    const objects = made(spec, ALLOWED).objects.filter(
      ({ kind }) => kind !== 'CustomResourceDefinition',
    );
    assert.deepEqual(objects, [...files.values()].flat());
    const text = JSON.stringify(objects);
    for (const each of Object.values(more).flat()) assert.ok(text.includes(String(each)), text);
  });
}

test('ACME alone is enough: an installation without a CA of its own', () => {
  const spec = { ...ACME_SPEC, signers: [] };
  assert.match(JSON.stringify(made(spec).objects), /example\.com\/public/);
  assert.match(refused({ signers: [], acme: ACME_SPEC.acme }), /^InvalidSpec: spec\.signers: /);
});

test('an administrator’s printed permissions have each name of ACME, and no other', () => {
  const namesOf = (spec: typeof SPEC): string =>
    JSON.stringify(operatorManifests(spec, { ...SETTINGS, version: '0.1.0' }));
  const names = ['example.com/public', 'example.com/staging', 'public-account', 'public-external'];
  for (const each of [...names, 'tsig', 'acme.provider.example']) {
    assert.ok(namesOf(ACME_SPEC).includes(`"${each}"`), each);
    assert.ok(!namesOf(SPEC).includes(`"${each}"`), each);
  }
});

for (const [field, values] of Object.entries(DANGEROUS)) {
  test(`spec.acme.${field}, which no permission bounds, takes an administrator`, () => {
    const message = refused(acme({ [field]: values }));
    assert.match(
      message,
      new RegExp(`^DangerZoneNotAllowed: spec\\.acme\\.${field}: .*--allow-danger-zone`),
    );
    assert.equal(refused(acme({ [field]: values }), ALLOWED), 'accepted');
    assert.equal(refused(acme({ [field]: [] })), 'accepted');
  });
}

test('a DNS provider is named with its solver: the operator has no wildcard to give', () => {
  const message = refused(acme({ dnsWebhooks: ['acme.provider.example'] }), ALLOWED);
  assert.match(message, /^InvalidSpec: spec\.acme\.dnsWebhooks\[0\]: .*\/<solverName>/);
});

test('what the chart refuses of ACME is refused, with the field', () => {
  for (const [more, says] of [
    [{ solverSecrets: [{ namespace: 'countersign-keys', name: 'workload-ca' }] }, /solverSecrets/],
    [{ signers: [{ name: 'example.com/workload' }] }, /spec\.acme\.signers\[0\]\.name/],
    [{ signers: [{ name: 'example.com/x', accountSecret: 'workload-ca' }] }, /that of a CA/],
    [{ secrets: [{ namespace: 'team-a', name: 'account' }] }, /namespacedSigners/],
    [{ dnsWebhooks: ['apps.k8s.io/x'] }, /not the API group of a DNS provider/],
    [{ more: [] }, /spec\.acme: .*more/],
    [{ dnsWebhooks: 'x.example/y' }, /dnsWebhooks: .*expected array/],
  ] as const) {
    const message = refused(acme(more));
    assert.match(message, /^InvalidSpec: spec\.acme/);
    assert.match(message, says);
  }
});

interface Fields {
  readonly properties: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
}

test('the definition has the fields of the chart for ACME, and no others', () => {
  const file = join(import.meta.dirname, '../../../deploy/crds/operator/countersigns.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly versions: readonly { schema: { openAPIV3Schema: Fields } }[] };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties['spec']?.properties['acme'];
  const { shape } = installationValues.shape.acme;
  assert.deepEqual(Object.keys(schema?.properties ?? {}).sort(), Object.keys(shape).sort());
  const signer = schema?.properties['signers']?.items?.properties ?? {};
  assert.deepEqual(Object.keys(signer).sort(), Object.keys(shape.signers.element.shape).sort());
});
