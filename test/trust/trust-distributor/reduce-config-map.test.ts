// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import { lastWriter } from '#trust/trust-distributor/contested-targets.ts';
import { reduceConfigMap } from '#trust/trust-distributor/reduce-config-map.ts';

const LONG = 'x'.repeat(1_000_000);
const OWN = 'countersign-trust-distributor';
const kept = { isNeeded: (key: string) => key === 'ca.crt', maxText: 1000 };
const metadata = {
  name: 'example.com.workload.primary',
  namespace: 'team-a',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const ours = { 'countersign.dev/signer-name': 'example.com/workload' };

function configMap(more: Partial<ConfigMap>, meta: Partial<ConfigMap['metadata']> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, ...meta }, ...more };
}

const sizeOf = (object: ConfigMap): number => JSON.stringify(reduceConfigMap(object, kept)).length;

test('a ConfigMap without our annotation costs its identity, whatever it holds', () => {
  const annotations = { other: LONG };
  const foreign = configMap({ data: { 'ca.crt': LONG } }, { annotations, labels: { x: LONG } });
  assert.deepEqual(reduceConfigMap(foreign, kept), configMap({}));
});

test('a ConfigMap with our annotation costs a bounded size', () => {
  const data = { 'ca.crt': LONG, more: LONG };
  assert.ok(sizeOf(configMap({ data, binaryData: data }, { annotations: ours })) < 1000);
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, '']));
  const many = configMap({ data: { ...keys, 'ca.crt': 'x' } }, { annotations: ours });
  assert.ok(sizeOf(many) < 1000);
  assert.equal(reduceConfigMap(many, kept).data?.['ca.crt'], 'x');
  const annotations = { 'countersign.dev/signer-name': LONG };
  assert.ok(sizeOf(configMap({}, { annotations })) < 1000);
});

test('a value that is too long keeps its key, and differs from an empty one', () => {
  const data = { 'ca.crt': LONG, 'evil.crt': LONG };
  const all = { isNeeded: () => true, maxText: 1000 };
  const reduced = reduceConfigMap(
    configMap({ data, binaryData: data }, { annotations: ours }),
    all,
  );
  for (const values of [reduced.data, reduced.binaryData]) {
    assert.deepEqual(Object.keys(values ?? {}), ['ca.crt', 'evil.crt']);
    assert.ok(Object.values(values ?? {}).every((each) => each !== '' && each.length < 100));
  }
  const empty = configMap({ data: { 'ca.crt': '' } }, { annotations: ours });
  assert.deepEqual(reduceConfigMap(empty, all).data, { 'ca.crt': '' });
  assert.deepEqual(reduceConfigMap(reduced, all), reduced);
});

test('what decisions read stays: contents, other keys, owners and the last writer', () => {
  const written = { 'f:data': { 'f:ca.crt': {}, [`f:${'y'.repeat(200)}`]: {} } };
  const managedFields = [
    { manager: OWN, time: '2026-01-03T00:00:00Z', fieldsV1: written },
    { manager: 'argocd', time: '2026-01-02T00:00:00Z', fieldsV1: written },
    { manager: 'helm', time: '2026-01-01T00:00:00Z', fieldsV1: written },
  ];
  const ownerReferences = [{ uid: 'o' }];
  const owned = { annotations: ours, managedFields, ownerReferences };
  const reduced = reduceConfigMap(configMap({ data: { 'ca.crt': 'x', more: 'y' } }, owned), kept);
  assert.deepEqual(reduced.data, { 'ca.crt': 'x', more: '' });
  assert.deepEqual(Reflect.get(reduced.metadata, 'ownerReferences'), ownerReferences);
  assert.equal(lastWriter(reduced, 'data', OWN), 'argocd');
  assert.deepEqual(reduceConfigMap(reduced, kept), reduced);
});
