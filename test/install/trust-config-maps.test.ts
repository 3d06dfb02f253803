// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trustConfigMapsPolicy } from '#install/admission/trust.ts';

test('the policy lists names equal but for dots or prefix once, with the best signer', () => {
  const signers = ['example.com/a', 'example.com/a.b'];
  const configMaps = ['example.com.a.b.c', 'example.com.a.b.c', 'example.com.a.x'];
  const [policy] = trustConfigMapsPolicy('countersign-system', signers, configMaps);
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
