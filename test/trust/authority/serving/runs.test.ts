// SPDX-License-Identifier: Apache-2.0
/** Which components run, by their Leases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseLabels } from '#component/leases.ts';
import { peerTimes } from '#kube/lease/lease.ts';
import { createShardMembership } from '#kube/lease/shard-membership.ts';
import { createServing } from '#trust/authority/serving/index.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { stagedComponent } from '../../../support/component/staged-component.ts';
import { leaseStagePerTest } from '../../../support/kube/lease-replica.ts';

const stage = leaseStagePerTest();

test('a component runs while a replica holds its Lease, and each change is told', async () => {
  const told: boolean[] = [];
  const component = stagedComponent(stage);
  const signers = { all: () => [], known: () => [] };
  const serving = createServing(component, ['ledger', 'signer'], signers, () => {
    told.push(serving.runs('signer'));
  });
  const stop = new AbortController();
  const running = serving.run(stop.signal);
  const { stop: end } = stage.start('a', (ports) =>
    createShardMembership({
      ...ports,
      name: 'a',
      identity: 'a',
      times: peerTimes(15),
      isReady: () => true,
      labels: leaseLabels('signer', 'countersign-keys'),
    }),
  );
  await stage.time.advance(2_000);
  assert.deepEqual([serving.runs('signer'), serving.runs('ledger')], [true, false]);
  await end();
  await stage.time.advance(2_000);
  assert.equal(serving.runs('signer'), false);
  await stage.time.advance(60_000);
  assert.deepEqual(told, [true, false]);
  stop.abort(new Error('stopped'));
  await stage.time.advance(0);
  await running;
});

test('while Leases are off no component is known to run', () => {
  const signers = { all: () => [], known: () => [] };
  const serving = createServing(recordedComponent(), ['signer'], signers, () => undefined);
  assert.equal(serving.runs('signer'), false);
});
