// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { components, linesOf } from './roles.ts';

const READERS = ['pcr-issuer', 'pod-refresher'];

test('with ledgerFacts two components read records, and nobody else reads more; without, nobody does', () => {
  for (const component of components) {
    const before = linesOf(component);
    const more = linesOf(component, { ...DEMO, ledgerFacts: true }).filter(
      (line) => !before.includes(line),
    );
    const wanted = READERS.includes(component) ? ['get,list ledger.countersign.dev/records'] : [];
    assert.deepEqual(more, wanted, component);
    assert.ok(!before.some((line) => line.includes('ledger.countersign.dev/records')), component);
  }
});
