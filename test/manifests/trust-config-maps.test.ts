// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whichTrustConfigMapsAreWritten } from '../../src/manifests/admission/trust.ts';

test('names that dots make equal, or that begin alike, are in the policy once, with the signer that fits best', () => {
  const signers = ['example.com/a', 'example.com/a.b'];
  const configMaps = ['example.com.a.b.c', 'example.com.a.b.c', 'example.com.a.x'];
  const [policy] = whichTrustConfigMapsAreWritten('countersign-system', signers, configMaps);
  const rows = [...JSON.stringify(policy).matchAll(/'(example\.com\.[^']+)': '([^']+)'/g)];
  assert.deepEqual(
    [...new Set(rows.map(([, name, signer]) => `${name} of ${signer}`))],
    ['example.com.a.b.c of example.com/a.b', 'example.com.a.x of example.com/a'],
  );
  const { spec } = policy as {
    readonly spec: { readonly validations: readonly { readonly expression: string }[] };
  };
  for (const { expression } of spec.validations) {
    const tables = [...expression.matchAll(/\{'example[^}]*\}/g)].map(([table]) => table);
    for (const table of tables) assert.equal(table.split("'example.com.a.b.c':").length, 2, table);
  }
});
