// SPDX-License-Identifier: Apache-2.0
/** What the writer of a Countersign says of the bundle endpoint. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { installationValues } from '#install/values/schema.ts';
import { SETTINGS, SPEC, made, refused } from './specs.ts';

const ALLOWED = { ...SETTINGS, dangerZone: true };
const ENABLED = { components: { 'bundle-endpoint': { enabled: true } } };
const SIGNED = { ...ENABLED, bundleEndpoint: { svidSigner: 'example.com/workload' } };

test('by which signer our bundle endpoint proves itself takes an administrator', () => {
  assert.match(
    refused(SIGNED),
    /^DangerZoneNotAllowed: spec\.bundleEndpoint\.svidSigner: .*--allow-danger-zone/,
  );
  assert.equal(refused(SIGNED, ALLOWED), 'accepted');
  for (const bundleEndpoint of [{}, { svidSigner: '' }])
    assert.equal(refused({ ...ENABLED, bundleEndpoint }), 'accepted');
  const wrong = { ...ENABLED, bundleEndpoint: { svidSigner: 'workload' } };
  assert.match(refused(wrong, ALLOWED), /^InvalidSpec: spec\.bundleEndpoint\.svidSigner/);
});

test('spec.bundleEndpoint.svidSigner reaches the volume of the X509-SVID', () => {
  const { objects } = made({ ...SPEC, ...SIGNED }, ALLOWED);
  const deployment = objects.find(
    ({ kind, metadata }) =>
      kind === 'Deployment' && metadata.name === 'countersign-bundle-endpoint',
  );
  assert.match(
    JSON.stringify(deployment),
    /"podCertificate":\{"signerName":"example\.com\/workload"/,
  );
});

interface Fields {
  readonly properties?: Readonly<Record<string, Fields>>;
}

test('the definition has exactly the chart’s fields for the bundle endpoint', () => {
  const file = join(import.meta.dirname, '../../../deploy/crds/operator/countersigns.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly versions: readonly { schema: { openAPIV3Schema: Fields } }[] };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  const found = Object.keys(schema?.properties?.['bundleEndpoint']?.properties ?? {});
  assert.deepEqual(found, Object.keys(installationValues.shape.bundleEndpoint.shape));
});
