// SPDX-License-Identifier: Apache-2.0
/**
 * What somebody cannot do who holds the operator's token, tried with that token. SECURITY.md says
 * the same.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient, type Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { RequestInit } from '#kube/client/request.ts';
import { ATTEMPTS, deploymentApplied, roleApplied } from './attempts.ts';
import { SYSTEM, startStand, type Stand } from './stand.ts';

let stand: Stand;
/** With the operator's token. */
let client: Client;
before(async () => {
  stand = await startStand();
  const kubeconfig = await stand.cluster.serviceAccountKubeconfig(SYSTEM, 'countersign-operator');
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
});
after(async () => {
  await client.close();
  await stand.close();
});

/** @returns the status and what the API server says; 200 where it does as it is told */
async function said(by: Client, call: RequestInit): Promise<readonly [number, string]> {
  try {
    await by.request({ ...call, query: { ...call.query, dryRun: 'All' } });
    return [200, ''];
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return [error.status, error.message];
  }
}

test('operator makes its components’ roles, with only their rights, and Deployments', async () => {
  const pods = { apiGroups: ['certificates.k8s.io'], resources: ['podcertificaterequests'] };
  const own = [{ ...pods, verbs: ['get', 'list', 'watch'] }];
  assert.deepEqual(await said(client, roleApplied('countersign-signer', own)), [200, '']);
  const deployment = deploymentApplied(SYSTEM, 'countersign-signer');
  assert.deepEqual(await said(client, deployment), [200, '']);
});

for (const [what, call] of Object.entries(ATTEMPTS)) {
  test(`it cannot ${what}`, async () => {
    const [status, message] = await said(client, call);
    assert.equal(status, 403, message);
    if (/more than itself/.test(what))
      assert.match(message, /attempting to grant RBAC permissions not currently held/);
  });
}

test('nothing is refused that an administrator may not do either', async () => {
  for (const [what, call] of Object.entries(ATTEMPTS)) {
    const [status, message] = await said(stand.client, call);
    assert.notEqual(status, 403, `${what}: ${message}`);
  }
});
