// SPDX-License-Identifier: Apache-2.0
/** `roles-complete`, where roles grant by the kinds of requests that a signer serves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byServedKind, type ServedKind } from '#api/signer/cluster-signer.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { permissionNamesOf } from '#install/names.ts';
import type { InstallationFacts } from '#diagnose/check/facts.ts';
import { findingsOf, workload } from './well.ts';

/** The roles of values whose one line of signers names these kinds. */
function rolesFor(...kinds: readonly ServedKind[]): InstallationFacts['roles'] {
  const { signers, secrets } = workload.installation;
  const none = { signers: [], secrets: [] };
  const served = byServedKind((kind) => (kinds.includes(kind) ? { signers, secrets } : none));
  const names = { ...workload.installation, served };
  return {
    value: new Map(
      [...COMPONENTS].map(([name, each]) => [
        name,
        each.permissions(permissionNamesOf(each, names)),
      ]),
    ),
  };
}

const linesFor = (...kinds: readonly ServedKind[]): readonly string[] =>
  findingsOf('roles-complete', { installed: { roles: rolesFor(...kinds) } }).map(
    ({ severity, subject = '', why }) => `${severity} ${subject} ${why}`,
  );

test('roles of the kinds that the ClusterSigner serves are complete', () => {
  for (const line of linesFor('pods', 'requests')) assert.match(line, /^ok /);
});

test('names the right, and its component, that a kind added to a ClusterSigner needs', () => {
  const [line = '', ...others] = linesFor('requests');
  assert.deepEqual(others, []);
  assert.match(line, /^error clusterrole\/countersign-pcr-issuer it does not grant sign signers/);
  assert.match(line, /"example\.com\/workload"/);
  assert.match(line, /get secrets "workload-ca" in namespace countersign-keys/);
});
