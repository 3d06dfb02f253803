// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { Installation } from '#install/installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { components, linesOf, rolesOf, type Role } from './roles.ts';
import { table } from './role-table.ts';

test('acme marks Certificates only with permission, and then watches the policy for it', () => {
  const acme = { signers: ['example.com/public'], secrets: [] };
  const named = { ...DEMO, optionalComponents: ['acme'] };
  const [without, granted] = [acme, { ...acme, renewCertificates: true }].map((each) =>
    linesOf('acme', { ...named, acme: each }),
  );
  const more = granted?.filter((line) => without?.includes(line) === false) ?? [];
  assert.deepEqual(more.slice(0, 2), [
    'get cert-manager.io/certificates',
    'update cert-manager.io/certificates/status',
  ]);
  assert.ok(more[2]?.includes(' countersign-acme-renewals '), more[2]);
  assert.equal(more.length, 3);
});

test('an installation of ACME alone has roles, and no rule of it is without names', () => {
  const acme = { signers: ['example.com/public'], secrets: [] };
  const alone = { ...DEMO, signers: [], bundles: [], secrets: [], acme };
  const named = { ...alone, optionalComponents: ['acme'] };
  assert.ok(linesOf('approver', named).some((line) => line.includes('[example.com/public]')));
  for (const component of components) {
    for (const { resourceNames } of rolesOf(component, named).flatMap(({ rules = [] }) => rules))
      assert.notEqual(resourceNames?.length, 0, component);
  }
  assert.ok(renderAdmission(named).has('acme.yaml'));
});

test('an optional component has roles only where it is named', () => {
  assert.ok(!renderRbac(DEMO).has('acme-responder.yaml'));
  const named = renderRbac({ ...DEMO, optionalComponents: ['acme-responder'] });
  assert.ok(named.has('acme-responder.yaml'));
  assert.throws(() => renderRbac({ ...DEMO, optionalComponents: ['signer'] }), {
    code: 'USAGE',
    message: /"signer" is not an optional component; write one of /,
  });
});

for (const [component, lines] of Object.entries(table)) {
  test(`the roles of ${component} hold what the table says and nothing else`, () => {
    assert.deepEqual(linesOf(component), lines);
  });
}

test('the table has every component', () => {
  assert.deepEqual(components.sort(), Object.keys(table).sort());
});

test('no rule has a wildcard, and none an empty list, which RBAC reads as all', () => {
  for (const component of components) {
    for (const rule of rolesOf(component).flatMap(({ rules = [] }) => rules)) {
      const texts = Object.values(rule).flatMap((list: readonly string[]) => list);
      assert.ok(!texts.some((text) => text.includes('*')), component);
      assert.notEqual(rule.resourceNames?.length, 0, component);
    }
  }
});

test('every role is bound to its own ServiceAccount and to nobody else', () => {
  for (const component of components) {
    const all = rolesOf(component) as readonly (Role & Record<string, unknown>)[];
    const roles = all.filter(({ kind }) => kind.endsWith('Role'));
    const bindings = all.filter(({ kind }) => kind.endsWith('Binding'));
    assert.equal(roles.length, bindings.length);
    for (const binding of bindings) {
      assert.deepEqual(binding['subjects'], [
        {
          kind: 'ServiceAccount',
          name: `countersign-${component}`,
          namespace: 'countersign-system',
        },
      ]);
    }
  }
});

test('without a bundle or a Secret its rules vanish, rather than hold for all', () => {
  const bare = { ...DEMO, bundles: [], secrets: [] };
  // The ledger's own key is no CA's.
  const named = ['attester', 'authority', 'ledger'];
  const others = components.filter((component) => !named.includes(component));
  for (const component of others) {
    assert.ok(!linesOf(component, bare).some((line) => line.includes('secrets')), component);
  }
});

test('only the publisher and the maker of our ports’ CA know its name', () => {
  for (const component of components) {
    const names = linesOf(component).some((line) =>
      /countersign\.dev[/:]serving|serving-ca/.test(line),
    );
    assert.equal(names, ['attester', 'authority'].includes(component), component);
  }
});

test('another signer name for our own ports takes the place of the shipped one', () => {
  const own = { ...DEMO, servingSigner: 'acme.example/ports' };
  assert.ok(linesOf('attester', own).some((line) => line.includes('acme.example:ports:primary')));
  assert.ok(!linesOf('attester', own).some((line) => line.includes('countersign.dev/serving')));
});

test('one role a namespace, also where keys and Events share one', () => {
  const roles = rolesOf('signer', { ...DEMO, secrets: [{ namespace: 'default', name: 'ca' }] });
  const where = roles.filter(({ kind }) => kind === 'Role').map((each) => each.metadata.namespace);
  assert.deepEqual(where, ['default', 'countersign-system']);
});

test('pod-refresher and ledger read only the Secrets named to them, and none of a CA', () => {
  const secret = { namespace: 'team-a', name: 'web-tls' };
  const monitored = linesOf('ledger', { ...DEMO, monitoredSecrets: [secret] });
  assert.ok(monitored.includes('list,watch /secrets [web-tls] @team-a'));
  const lines = linesOf('pod-refresher', { ...DEMO, refreshSecrets: [secret] });
  assert.ok(lines.includes('list,watch /secrets [web-tls] @team-a'));
  for (const wrong of [
    { namespace: 'countersign-keys', name: 'workload-ca' },
    { namespace: 'countersign-keys', name: 'other' },
    { namespace: 'countersign-system', name: 'countersign-signer-serving' },
  ]) {
    assert.throws(() => renderRbac({ ...DEMO, refreshSecrets: [wrong] }), { code: 'USAGE' });
    assert.throws(() => renderRbac({ ...DEMO, monitoredSecrets: [wrong] }), { code: 'USAGE' });
  }
});

const refused: [law: string, change: Partial<Installation>, code: string, message: RegExp][] = [
  ['no signer', { signers: [] }, 'USAGE', /name at least one signer/],
  ['a quote in a signer name', { signers: ["a.b/c'"] }, 'SIGNER_NAME_INVALID', /DNS labels/],
  ['a wildcard', { signers: ['example.com/*'] }, 'SIGNER_NAME_INVALID', /DNS labels/],
  [
    "another signer's bundle",
    { bundles: ['a.b:c:d'] },
    'USAGE',
    /does not belong to one of these signers/,
  ],
  ['a bundle without a name', { bundles: ['example.com:workload:'] }, 'USAGE', /write example/],
  ['a wrong namespace', { namespace: 'A' }, 'USAGE', /"A" is not a valid name of a namespace/],
  [
    'a wrong Secret',
    { secrets: [{ namespace: 'keys', name: 'a b' }] },
    'USAGE',
    /is not a valid name of a Secret/,
  ],
  [
    'keys beside the components',
    { secrets: [{ namespace: 'countersign-system', name: 'ca' }] },
    'USAGE',
    /keys into a namespace of their own/,
  ],
];

for (const [law, change, code, message] of refused) {
  test(`${law} is refused`, () => {
    assert.throws(() => renderRbac({ ...DEMO, ...change }), { code, message });
    assert.throws(() => renderAdmission({ ...DEMO, ...change }), { code, message });
  });
}
