// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS, type ComponentName } from '../../src/manifests/components.ts';
import { MOULDS } from '../../src/manifests/operator/mould.ts';
import { planOf } from '../../src/manifests/values/plan.ts';
import { deployment } from '../../src/manifests/workloads/deployment.ts';
import { components, linesOf } from './roles.ts';

const READERS = ['pcr-issuer', 'pod-refresher'];
const FLAG = '--ledger-facts';

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

/** Every component, with this value. */
function planWith(facts: boolean): ReturnType<typeof planOf> {
  const optional = [...COMPONENTS].filter(([, each]) => each.optional !== undefined);
  const values = {
    signers: [{ name: 'example.com/workload' }],
    components: Object.fromEntries(optional.map(([name]) => [name, { enabled: true }])),
    acme: { signers: [{ name: 'example.com/public' }] },
    ledger: { facts },
  };
  return planOf(values, { namespace: 'default', version: '0.1.0' });
}

function argumentsOf(component: ComponentName, facts: boolean): readonly string[] {
  const { spec } = deployment(component, planWith(facts)) as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly [{ args: string[] }] } };
    };
  };
  return spec.template.spec.containers[0].args;
}

test('with the value ledger.facts the components that know the flag have it, and the right; without, none', () => {
  const known = Object.entries(MOULDS['0.1'] ?? {}).filter(([, flags]) => FLAG in flags);
  assert.deepEqual(known.map(([name]) => name).sort(), READERS);
  for (const component of COMPONENTS.keys()) {
    const without = argumentsOf(component, false);
    assert.ok(!without.includes(FLAG), component);
    const more = READERS.includes(component) ? [FLAG] : [];
    assert.deepEqual([...argumentsOf(component, true)].sort(), [...without, ...more].sort());
  }
  assert.equal(planWith(true).installation.ledgerFacts, true);
  assert.equal(planWith(false).installation.ledgerFacts, false);
});
