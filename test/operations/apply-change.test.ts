// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT } from '../../src/api/signer/rotation-annotations.ts';
import { applyChange, patchOf } from '../../src/operations/apply-change.ts';
import { prepare } from '../../src/operations/verbs/prepare.ts';
import type { OperationReport } from '../../src/operations/report.ts';
import type { SignerState } from '../../src/operations/signer-state.ts';
import { KubeError } from '../../src/kube/client/kube-error.ts';
import { recordedClient, type RecordedClient } from '../support/kube/recorded-client.ts';
import { at, print, state } from './signer-states.ts';

/** @param conflicts - so many writes meet somebody else's */
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

function give(
  client: RecordedClient,
  looks: Iterator<SignerState>,
  more: { force?: boolean; dryRun?: boolean } = {},
): Promise<OperationReport> {
  return applyChange({
    client,
    verb: 'prepare',
    readState: () => Promise.resolve(looks.next().value as SignerState),
    plan: prepare,
    force: false,
    dryRun: false,
    ...more,
  });
}

function* always(of: SignerState): Generator<SignerState> {
  for (;;) yield of;
}

test('a patch holds the version that the gate has seen, and nothing but the fields of the order', () => {
  const { signer } = state({ managed: { distrusted: [print('c')] } });
  const change = { annotations: { [PREPARE_AT]: at(0) }, distrust: [print('a')] };
  assert.deepEqual(patchOf(signer, change), {
    metadata: { resourceVersion: '1', annotations: { [PREPARE_AT]: at(0) } },
    spec: { authority: { managed: { distrusted: [print('c'), print('a')] } } },
  });
});

test('after a conflict the gate sees what is there now', async () => {
  const client = conflicting(1);
  const done = state({ authorities: { a: 'Active', b: 'Prepared' } });
  const report = await give(client, [state(), done].values());
  assert.equal(report.outcome, 'unchanged');
  assert.equal(client.requests.length, 1);
});

test('conflicts are borne a few times, not for ever', async () => {
  assert.equal((await give(conflicting(5), always(state()))).outcome, 'changed');
  await assert.rejects(give(conflicting(6), always(state())), { code: 'KUBE_CONFLICT' });
});

test('what is refused writes nothing; with --force it is written, and what spoke against it is said', async () => {
  const client = conflicting(0);
  const refused = await give(client, always(state({ observed: 0 })));
  assert.equal(refused.outcome, 'refused');
  assert.match(refused.notes.join(), /--force/);
  assert.equal(client.requests.length, 0);
  const forced = await give(client, always(state({ observed: 0 })), { force: true });
  assert.equal(forced.outcome, 'changed');
  assert.match(forced.notes.join(), /in spite of this: .*generation 1/);
});

test('a dry run asks the API server to store nothing', async () => {
  const client = conflicting(0);
  assert.equal((await give(client, always(state()), { dryRun: true })).outcome, 'changed');
  assert.equal(client.requests[0]?.query?.['dryRun'], 'All');
});
