// SPDX-License-Identifier: Apache-2.0
/** The API server drops a field that a definition does not know, before the operator sees it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { lintInstallation } from '#diagnose/lint/installation-rules.ts';
import { unknownFields } from '#install/operator/unknown-fields.ts';

const apiVersion = 'operator.countersign.dev/v1alpha1';
const metadata = { name: 'cluster', labels: { team: 'pki' } };

/** A spec with fields of each depth. */
const SPEC = {
  version: '0.1.0',
  signers: [{ name: 'example.com/a' }, { name: 'example.com/b', bundle: '' }],
  ledger: { storage: { size: '10Gi' } },
  defaults: {
    labels: { 'example.com/any': 'x' },
    resources: { limits: { 'example.com/gpu': 1 } },
    affinity: { nodeAffinity: {} },
    extraEnv: [{ name: 'TZ', value: 'UTC' }],
  },
  components: { signer: { replicas: 2, tolerations: [{ anything: 'x' }] } },
};

/** Fields that nobody knows, in place of those of {@link SPEC}. */
const UNKNOWN: readonly (readonly [path: string, spec: object])[] = [
  ['spec.signer', { signer: [] }],
  ['spec.notifications', { notifications: {} }],
  ['spec.constructor', { constructor: 'x' }],
  ['spec.signers[1].bundel', { signers: [{ name: 'example.com/a' }, { bundel: 'x' }] }],
  ['spec.ledger.storage.capacity', { ledger: { storage: { capacity: '1Gi' } } }],
  ['spec.components.signer.replica', { components: { signer: { replica: 2 } } }],
  ['spec.defaults.extraEnv[0].valueFrom', { defaults: { extraEnv: [{ valueFrom: {} }] } }],
];

for (const [path, fields] of UNKNOWN)
  test(`a field that a Countersign does not have is named by its path: ${path}`, () => {
    const object = { apiVersion, kind: 'Countersign', metadata, spec: { ...SPEC, ...fields } };
    assert.deepEqual(unknownFields(object), [path]);
    const [finding, ...more] = lintInstallation(object, 'x.yaml Countersign/cluster') ?? [];
    assert.deepEqual(more, []);
    assert.equal(finding?.severity, 'error');
    assert.equal(finding.where, `x.yaml Countersign/cluster ${path}`);
  });

test('a field beside spec is named, and one of a CertManagerDeployment', () => {
  assert.deepEqual(unknownFields({ apiVersion, kind: 'Countersign', metadata, sepc: SPEC }), [
    'sepc',
  ]);
  const spec = { version: '1.19.1', components: { controller: { replica: 1, replicas: 1 } } };
  assert.deepEqual(unknownFields({ apiVersion, kind: 'CertManagerDeployment', metadata, spec }), [
    'spec.components.controller.replica',
  ]);
});

test('what the definitions know is not named', () => {
  const root = join(import.meta.dirname, '../../..');
  const shipped = parse(readFileSync(join(root, 'deploy/operator/countersign.yaml'), 'utf8')) as {
    readonly kind: string;
  };
  for (const object of [shipped, { apiVersion, kind: 'Countersign', metadata, spec: SPEC }])
    assert.deepEqual(lintInstallation(object, ''), []);
});

test('an object of another group or kind is not judged', () => {
  assert.equal(lintInstallation({ apiVersion: 'v1', kind: 'Countersign' }, ''), undefined);
  assert.equal(unknownFields({ kind: 'Pod', spec: {} }), undefined);
  assert.equal(unknownFields({ kind: 'toString' }), undefined);
});

/** Aliases of YAML can make such a list. */
test('a list that contains itself has no unknown fields', () => {
  const list: unknown[] = [];
  list.push(list);
  assert.deepEqual(unknownFields({ kind: 'Countersign', spec: { signers: list } }), []);
});
