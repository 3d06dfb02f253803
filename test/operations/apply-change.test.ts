// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT } from '#api/signer/rotation-annotations.ts';
import { applyChange, type ApplyChangeInit } from '#operations/apply-change.ts';
import type { ChangePlan } from '#operations/change-plan.ts';
import { prepare } from '#operations/verbs/prepare.ts';
import type { OperationReport } from '#operations/report.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../support/kube/recorded-client.ts';
import { at, print, state } from './signer-states.ts';

/** @param conflicts - how many writes are answered with 409 Conflict */
function conflicting(conflicts: number): RecordedClient {
  const client = recordedClient();
  let left = conflicts;
  client.answer(() => {
    left -= 1;
    if (left >= 0)
      throw new KubeError({ status: 409, what: 'PATCH', body: { reason: 'Conflict' } });
    return {};
  });
  return client;
}

function apply(
  client: RecordedClient,
  states: Iterator<SignerState>,
  more: Partial<ApplyChangeInit> = {},
): Promise<OperationReport> {
  return applyChange({
    client,
    verb: 'prepare',
    readState: () => Promise.resolve(states.next().value as SignerState),
    plan: prepare,
    force: false,
    dryRun: false,
    ...more,
  });
}

function* always(of: SignerState): Generator<SignerState> {
  for (;;) yield of;
}

test('the patch holds the plan’s resource version and the changed fields only', async () => {
  const client = conflicting(0);
  const signer = state({ managed: { distrusted: [print('c')] } });
  const change = { annotations: { [PREPARE_AT]: at(0) }, distrust: [print('a')] };
  const plan = (): ChangePlan => ({ change, preflightErrors: [], notes: [] });
  await apply(client, always(signer), { plan });
  assert.deepEqual(client.requests[0]?.body, {
    metadata: { resourceVersion: '1', annotations: { [PREPARE_AT]: at(0) } },
    spec: { authority: { managed: { distrusted: [print('c'), print('a')] } } },
  });
});

test('after a conflict the plan is made again from the current state', async () => {
  const client = conflicting(1);
  const done = state({ authorities: { a: 'Active', b: 'Prepared' } });
  const report = await apply(client, [state(), done].values());
  assert.equal(report.outcome, 'unchanged');
  assert.equal(client.requests.length, 1);
});

test('after five conflicts the sixth is an error', async () => {
  assert.equal((await apply(conflicting(5), always(state()))).outcome, 'changed');
  await assert.rejects(apply(conflicting(6), always(state())), { code: 'KUBE_CONFLICT' });
});

test('a preflight error writes nothing; --force writes and notes the error', async () => {
  const client = conflicting(0);
  const refused = await apply(client, always(state({ observed: 0 })));
  assert.equal(refused.outcome, 'refused');
  assert.match(refused.notes.join(), /--force/);
  assert.equal(client.requests.length, 0);
  const forced = await apply(client, always(state({ observed: 0 })), { force: true });
  assert.equal(forced.outcome, 'changed');
  assert.match(forced.notes.join(), /overridden by --force: .*generation 1/);
});

test('a dry run sends dryRun=All', async () => {
  const client = conflicting(0);
  assert.equal((await apply(client, always(state()), { dryRun: true })).outcome, 'changed');
  assert.equal(client.requests[0]?.query?.['dryRun'], 'All');
});
