// SPDX-License-Identifier: Apache-2.0
/** Roles that a former spec needed, and the present one does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CountersignSpec } from '#api/operator/countersign.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { titleOf } from '#kube/apply/objects/managed-object.ts';
import { ACME_SPEC, ALLOWED, SPEC, grantsOf, made, refused } from './specs.ts';

const optional = [...COMPONENTS].filter(([, each]) => each.optional !== undefined);
const everything = Object.fromEntries(optional.map(([name]) => [name, { enabled: true }]));
const KEY = {
  name: 'workload',
  secret: 'workload-key',
  signerNames: ['example.com/workload'],
  leaf: { maxDuration: '1h' },
};
const holder = { keyHolder: { keys: [KEY] } };
const held = [{ name: 'example.com/workload', keyHolder: true }];

const FORMER: CountersignSpec = { ...ACME_SPEC, components: everything };
const PRESENT: Readonly<Record<string, CountersignSpec>> = {
  'a signer serves pods alone': {
    ...SPEC,
    signers: [{ name: 'example.com/workload', serves: ['pods'] }],
  },
  'key holders have the keys of the CAs': {
    ...SPEC,
    signers: held,
    components: { signer: holder, 'pcr-issuer': holder, 'certificate-request': holder },
  },
  'ACME goes together with its names': SPEC,
  'ACME alone is left': { ...ACME_SPEC, signers: [] },
};

/** The Roles in the namespace of the keys, and their bindings. */
function grantsOnKeys(spec: CountersignSpec): readonly string[] {
  return made(spec, ALLOWED)
    .objects.filter(({ kind }) => kind === 'Role' || kind === 'RoleBinding')
    .map(titleOf)
    .filter((title) => title.includes(' countersign-keys/'));
}

for (const [when, spec] of Object.entries(PRESENT))
  test(`no Role on keys outlives its purpose: ${when}`, () => {
    const { removable, rules } = made(spec, ALLOWED);
    const left = grantsOnKeys(FORMER).filter((title) => !grantsOnKeys(spec).includes(title));
    assert.notDeepEqual(left, []);
    assert.deepEqual(
      left.filter((title) => !removable.has(title)),
      [],
    );
    const granted = new Set(rules.flatMap(grantsOf));
    const group = 'rbac.authorization.k8s.io';
    for (const title of left) {
      const [kind = '', place = ''] = title.split(' ');
      const name = place.slice('countersign-keys/'.length);
      const right = `delete ${group} ${kind.toLowerCase()}s ${name} countersign-keys`;
      assert.ok(granted.has(right), right);
    }
  });

test('a component that is off needs no key holder, whatever a signer serves', () => {
  const components = {
    signer: holder,
    'pcr-issuer': holder,
    'certificate-request': { enabled: false },
  };
  assert.equal(refused({ signers: held, components }, ALLOWED), 'accepted');
});
