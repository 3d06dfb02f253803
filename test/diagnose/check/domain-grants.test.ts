// SPDX-License-Identifier: Apache-2.0
/** `roles-complete`, where roles name a domain in place of its signers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { findingsOf, installed } from './well.ts';

assert.ok('value' in installed.roles);
const { value: roles } = installed.roles;

/** The same roles, with these names for every signer. */
function naming(...resourceNames: readonly string[]): typeof installed.roles {
  const renamed = (rule: PermissionRule): PermissionRule =>
    rule.apiGroups.includes('certificates.k8s.io') && rule.resources.includes('signers')
      ? { ...rule, resourceNames }
      : rule;
  return { value: new Map([...roles].map(([name, rules]) => [name, rules.map(renamed)])) };
}

test('roles that name nothing but the domains are complete', () => {
  const found = findingsOf('roles-complete', {
    installed: { roles: naming('example.com/*', 'countersign.dev/*') },
  });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('no other pattern completes a role', () => {
  const patterns = ['*/*', '*.com/*', '*.dev/*', 'example.com/work*', 'countersign.dev/serv*', '*'];
  const found = findingsOf('roles-complete', { installed: { roles: naming(...patterns) } });
  const named = found.map(({ subject }) => subject).sort();
  assert.deepEqual(
    named,
    ['approver', 'attester', 'pcr-issuer', 'signer'].map(
      (each) => `clusterrole/countersign-${each}`,
    ),
  );
  for (const { why } of found) assert.match(why, /signers\.certificates\.k8s\.io "/);
});
