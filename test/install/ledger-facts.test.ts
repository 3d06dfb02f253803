// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS, type ComponentName } from '#install/component-list.ts';
import { FLAG_SCHEMAS } from '#install/operator/check-flags.ts';
import { planOf } from '#install/values/plan.ts';
import { deployment } from '#install/workloads/deployment.ts';
import { components, linesOf } from './roles.ts';

const READERS = ['pcr-issuer', 'pod-refresher'];
const FLAG = '--ledger-facts';

test('only with ledgerFacts, and only two components, read records', () => {
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

test('only with ledger.facts do the components that know the flag get it and the right', () => {
  const known = Object.entries(FLAG_SCHEMAS['0.1'] ?? {}).filter(([, flags]) => FLAG in flags);
  assert.deepEqual(known.map(([name]) => name).sort(), READERS);
  for (const component of COMPONENTS.keys()) {
    const without = argumentsOf(component, false);
    assert.ok(!without.includes(FLAG), component);
    const address = '--ledger=https://countersign-ledger-api.countersign-system.svc';
    // Who appends knows it already.
    const more = READERS.includes(component) ? [FLAG, address] : [];
    const all = new Set([...without, ...more]);
    assert.deepEqual([...argumentsOf(component, true)].sort(), [...all].sort());
  }
  const tokens = (component: ComponentName, facts: boolean): number =>
    JSON.stringify(deployment(component, planWith(facts))).split('"append.ledger.countersign.dev"')
      .length - 1;
  assert.deepEqual([tokens('pod-refresher', false), tokens('pod-refresher', true)], [0, 1]);
  assert.deepEqual([tokens('pcr-issuer', false), tokens('pcr-issuer', true)], [1, 1]);
  assert.equal(planWith(true).installation.ledgerFacts, true);
  assert.equal(planWith(false).installation.ledgerFacts, false);
});
