// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { componentCalls, outsideRoles } from '../../test/support/cluster/audit.ts';
import type { Cast } from '../cast/cast.ts';
import type { Tell } from '../story.ts';

/** Of the whole run: no 403 of our users, no verb outside their roles. */
export async function audit({ cluster, components }: Cast, tell: Tell): Promise<void> {
  const calls = await componentCalls(cluster);
  assert.ok(calls.length > 0, 'the audit log has no call of ours');
  const refused = calls.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ user, verb, requestURI }) => [user.username, verb, requestURI]),
    [],
  );
  assert.deepEqual(outsideRoles(calls), []);
  const users = new Set(calls.map(({ user }) => user.username));
  assert.equal(users.size, components);
  tell(
    `${calls.length} calls of ${users.size} users: no 403, no verb outside rbac/<component>.yaml`,
  );
}
