// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installationFiles } from '#install/files.ts';
import { withProtocols } from '#install/values/egress.ts';
import { planOf } from '#install/values/plan.ts';
import { FULL } from '../helm/full-values.ts';
import { BAD, GOOD } from '../helm/values.ts';

const VERSION = '0.1.0';

for (const [what, [values, namespace = 'default']] of Object.entries(GOOD)) {
  test(`there is a plan for ${what}`, () => {
    const files = installationFiles(planOf(values, { namespace, version: VERSION }));
    assert.ok(files.has('deployments.yaml'));
  });
}

for (const [what, [values]] of Object.entries(BAD)) {
  test(`there is no plan for ${what}`, () => {
    assert.throws(() => planOf(values, { namespace: 'default', version: VERSION }));
  });
}

test('no rule about Secrets or signers is without names, whatever is served', () => {
  const bare = { signers: [{ name: 'example.com/a', bundle: '' }] };
  for (const values of [bare, ...Object.values(GOOD).map(([each]) => each)]) {
    const plan = planOf(values, { namespace: 'release', version: VERSION });
    const rules = [...installationFiles(plan).values()]
      .flat()
      .flatMap(({ rules: found = [] }) => found as { resourceNames?: string[]; verbs: string[] }[]);
    assert.ok(rules.length > 0);
    for (const { resourceNames, verbs } of rules)
      assert.notDeepEqual(resourceNames, [], verbs.join());
  }
});

test('each port of a NetworkPolicy names its protocol, as the API server stores it', () => {
  const rules = (values: object): readonly { ports?: readonly { protocol?: string }[] }[] =>
    [...installationFiles(planOf(values, { namespace: 'release', version: VERSION })).values()]
      .flat()
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap(({ spec }) => {
        const { egress = [], ingress = [] } = spec as { egress?: object[]; ingress?: object[] };
        return [...egress, ...ingress];
      });
  const signers = [{ name: 'example.com/a' }];
  const components = { notifier: { enabled: true }, federation: { enabled: true } };
  const defaults = { signers, components, networkPolicy: { enabled: true } };
  for (const values of [defaults, FULL]) {
    const ports = rules(values).flatMap(({ ports: each = [] }) => each);
    assert.ok(ports.length > 3);
    assert.deepEqual(
      ports.filter(({ protocol }) => protocol === undefined),
      [],
    );
  }
  // What the user wrote stays, and what is no port is left to the API server.
  const egress = [{ ports: [{ port: 53, protocol: 'UDP' }] }, { to: [] }, { ports: 'all' }];
  assert.deepEqual(withProtocols(egress), egress);
});

test('the namespace of the release is not made, nor its name taken for the keys', () => {
  const namespacesOf = (namespace: string): readonly string[] =>
    planOf({ signers: [{ name: 'example.com/a' }] }, { namespace, version: VERSION }).namespaces;
  assert.deepEqual(namespacesOf('default'), ['countersign-system', 'countersign-keys']);
  assert.deepEqual(namespacesOf('pki'), ['countersign-keys']);
  assert.throws(() => namespacesOf('countersign-keys'), { code: 'USAGE' });
});

// Without a selector the scheduler counts no pod, and nothing is spread.
test('a constraint without a selector spreads the pods of its component', () => {
  const own = { topologyKey: 'zone', labelSelector: { matchLabels: { team: 'platform' } } };
  const defaults = { topologySpreadConstraints: [{ topologyKey: 'zone' }, own] };
  const { components } = planOf(
    { signers: [{ name: 'example.com/a' }], defaults },
    { namespace: 'default', version: VERSION },
  );
  assert.ok(components.size > 3);
  for (const [component, { topologySpreadConstraints: spread }] of components) {
    const matchLabels = {
      'app.kubernetes.io/name': 'countersign',
      'app.kubernetes.io/component': component,
    };
    assert.deepEqual(spread, [{ topologyKey: 'zone', labelSelector: { matchLabels } }, own]);
  }
});

test('by default exactly the signers with a bundle have an injection profile', () => {
  const profiles = (signers: readonly object[]): readonly (string | undefined)[] =>
    planOf(
      { signers, injection: { enabled: true } },
      { namespace: 'default', version: VERSION },
    ).installation.injection?.map(({ signerName }) => signerName) ?? [];
  const workload = { name: 'example.com/workload' };
  const people = { name: 'example.com/people', bundle: '' };
  assert.deepEqual(profiles([people, workload]), ['example.com/workload']);
  assert.throws(() => profiles([people]), /no signer has a bundle/);
});
