// SPDX-License-Identifier: Apache-2.0
/** Signers of namespaces on a real cluster: whom they answer, and what nobody can do with them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { renderRbac } from '#install/render.ts';
import { componentCalls, outsideRoles } from '../support/cluster/audit.ts';
import './namespaced/serving.ts';
import './namespaced/attacks.ts';
import { OPTED_IN, theStand } from './namespaced/stand.ts';

after(async () => {
  await (await theStand()).stop();
});

test('no component got a 403 or called the API outside of its roles', async () => {
  const stand = await theStand();
  const { cluster } = stand;
  await stand.everybodyIsReady();
  const calls = await componentCalls(cluster);
  assert.deepEqual(
    calls
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`),
    [],
  );
  const files = renderRbac(OPTED_IN);
  assert.deepEqual(
    outsideRoles(calls, (component) => files.get(`${component}.yaml`) ?? ''),
    [],
  );
  assert.ok(
    calls.some(({ objectRef: at }) => at?.resource === 'signers' && at.subresource === 'status'),
  );
});
