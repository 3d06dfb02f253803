// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { components, linesOf } from './roles.ts';

test('the keys of accounts are read by name, by acme alone', () => {
  const secrets = [{ namespace: 'countersign-keys', name: 'letsencrypt' }];
  const acme = { signers: ['example.com/public'], secrets };
  const rule = 'get,list,watch /secrets [letsencrypt] @countersign-keys';
  assert.ok(linesOf('acme', { ...DEMO, acme }).includes(rule));
  for (const component of components.filter((each) => each !== 'acme'))
    assert.doesNotMatch(linesOf(component, { ...DEMO, acme }).join(), /letsencrypt/);
});

test('who approves by the rules of an ACME signer may approve for its name, and nobody else of the others', () => {
  const acme = { signers: ['example.com/public'], secrets: [] };
  for (const component of components) {
    const lines = linesOf(component, { ...DEMO, acme }).filter((each) => each.includes('/public'));
    const verb = { approver: 'approve', acme: 'sign' }[component];
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      verb === undefined ? [] : [verb],
      component,
    );
  }
});
