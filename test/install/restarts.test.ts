// SPDX-License-Identifier: Apache-2.0
/**
 * An upgrade restarts what it changes, and nothing else: only the pods of these Deployments get
 * another template.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergedValues } from '#install/values/defaults.ts';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';

const SIGNERS = [{ name: 'example.com/workload' }];
const enabled = (...names: readonly string[]): object => ({
  components: Object.fromEntries(names.map((each) => [each, { enabled: true }])),
});
const BASE = mergedValues(
  { signers: SIGNERS },
  enabled('pod-refresher', 'trust-distributor', 'bundle-endpoint'),
) as object;

/** What is changed → whose pods it changes. */
const CHANGES: Readonly<Record<string, readonly [object, readonly string[]]>> = {
  'one more signer': [{ signers: [...SIGNERS, { name: 'example.com/people' }] }, []],
  'ACME, whose account keys authority makes': [
    {
      ...enabled('acme', 'acme-responder', 'acme-solver'),
      acme: { signers: [{ name: 'example.com/public' }] },
    },
    ['authority'],
  ],
  'a component': [enabled('federation'), []],
  'replicas of one': [{ components: { signer: { replicas: 3 } } }, []],
  'a label of one': [{ components: { signer: { labels: { team: 'pki' } } } }, ['signer']],
  'arguments of one': [
    { components: { attester: { extraArgs: ['--log-level=debug'] } } },
    ['attester'],
  ],
  'alerts, dashboards and NetworkPolicies': [
    {
      alerts: { enabled: true },
      dashboards: { enabled: true },
      networkPolicy: { enabled: true },
    },
    [],
  ],
  'who may request': [{ whoMayRequest: true }, []],
};

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: object };
}

function templates(values: object): ReadonlyMap<string, string> {
  const plan = planOf(values, { namespace: 'default', version: '0.1.0' });
  const objects: readonly unknown[] = [...installationFiles(plan).values()].flat();
  const deployments = (objects as readonly Rendered[]).filter(({ kind }) => kind === 'Deployment');
  return new Map(
    deployments.map(({ metadata, spec }) => [
      metadata.name.replace('countersign-', ''),
      JSON.stringify(spec.template),
    ]),
  );
}

for (const [what, [change, restarted]] of Object.entries(CHANGES)) {
  test(`an upgrade restarts only what it changes: ${what}`, () => {
    const before = templates(BASE);
    const after = templates(mergedValues(BASE, change) as object);
    const changed = [...before.keys()].filter((each) => before.get(each) !== after.get(each));
    assert.deepEqual(changed, restarted);
  });
}

test('a new signer name restarts the ledger, which has appenders as arguments, alone', () => {
  const recorded = mergedValues(BASE, enabled('ledger')) as object;
  const more = mergedValues(recorded, { signers: [...SIGNERS, { name: 'example.com/people' }] });
  const [before, after] = [templates(recorded), templates(more as object)];
  const changed = [...before.keys()].filter((each) => before.get(each) !== after.get(each));
  assert.deepEqual(changed, ['ledger']);
});
