// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DECIDED_KINDS, decideRequest } from '#operations/deciding/decide-request.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { made } from '../ca/policy/request.ts';

const SUBJECT = { kind: 'csr', name: 'jane-1', namespace: '' };

function decide(refusal: string | undefined) {
  const client = recordedClient();
  const init = {
    client,
    clock: () => 0,
    dryRun: false,
    type: 'Approved',
    reason: 'CountersignApprove',
    message: 'by hand',
    refusal,
  } as const;
  const report = decideRequest(init, SUBJECT, DECIDED_KINDS.csr, made().csr);
  return { client, report };
}

test('a request that would fail is not approved, and nothing is written', async () => {
  const { client, report } = decide('if approved, it fails: x');
  assert.equal((await report).outcome, 'refused');
  assert.equal((await report).message, 'if approved, it fails: x');
  assert.deepEqual(client.requests, []);
});

test('without a refusal the approval is written', async () => {
  const { client, report } = decide(undefined);
  assert.equal((await report).outcome, 'Approved');
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['PUT'],
  );
});
