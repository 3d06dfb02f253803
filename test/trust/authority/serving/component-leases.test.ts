// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SERVING_REPORT, writeReport } from '#api/serving/report.ts';
import {
  createComponentLeases,
  type ComponentLeases,
  type ComponentState,
} from '#trust/authority/serving/component-leases.ts';
import { peerTimes } from '#kube/lease/lease.ts';
import type { LeasedShardFilter } from '#kube/lease/shard-filter.ts';
import { createShardMembership } from '#kube/lease/shard-membership.ts';
import { leaseLabels } from '#component/leases.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { stagedComponent } from '../../../support/component/staged-component.ts';
import { leaseStagePerTest, type Replica } from '../../../support/kube/lease-replica.ts';

const NAMES = ['pcr-issuer', 'signer'];

const stage = leaseStagePerTest();
let leases: ComponentLeases;
let changes: number;
let stop: AbortController;
let running: Promise<void>;
let text: string;

beforeEach(async () => {
  [changes, stop] = [0, new AbortController()];
  text = writeReport({ checked: 'one', namespaced: false, faults: [] });
  const component = stagedComponent(stage);
  const subject = (): string => '';
  leases = createComponentLeases(component, NAMES, subject, () => (changes += 1));
  running = leases.run(stop.signal);
  await stage.time.advance(1_000);
});
afterEach(async () => {
  stop.abort(new Error('stopped'));
  await stage.time.advance(0);
  await running;
});

/** A replica of pcr-issuer that reports `text`. */
async function replica(name: string): Promise<Replica<LeasedShardFilter>> {
  const started = stage.start(name, (ports) =>
    createShardMembership({
      ...ports,
      name,
      identity: name,
      times: peerTimes(15),
      isReady: () => true,
      labels: leaseLabels('pcr-issuer', 'countersign-keys'),
      annotations: () => ({ [SERVING_REPORT]: text }),
    }),
  );
  await stage.time.advance(1_000);
  return started;
}

const state = (): ComponentState | undefined => leases.of('pcr-issuer');

test('a replica that holds its Lease is live, and its report is what it wrote', async () => {
  await replica('a');
  assert.equal(state()?.replicas[0]?.report?.checked, 'one');
  assert.equal(leases.of('signer')?.installed, false);
});

test('a changed report is written within a second, at most once a second', async () => {
  const { filter } = await replica('a');
  await stage.time.advance(5_000);
  const before = stage.api.calls.length;
  text = writeReport({ checked: 'two', namespaced: false, faults: [] });
  for (let times = 0; times < 10; times += 1) {
    filter.renew();
    await stage.time.advance(100);
  }
  await stage.time.advance(1_000);
  assert.equal(state()?.replicas[0]?.report?.checked, 'two');
  const writes = stage.api.calls.slice(before).filter((call) => call.includes('PUT')).length;
  assert.ok(writes <= 3, `${writes} writes in two seconds`);
});

test('renewals that change nothing change nothing', async () => {
  await replica('a');
  // By then it is settled which components are not there.
  await stage.time.advance(20_000);
  const before = changes;
  await stage.time.advance(60_000);
  assert.equal(changes, before);
});

test('a replica that ends is gone at once, and its component ten seconds later', async () => {
  const { stop: end } = await replica('a');
  await end();
  await stage.time.advance(1_000);
  assert.deepEqual([state()?.replicas.length, state()?.alive], [0, true]);
  await stage.time.advance(10_000);
  assert.deepEqual([state()?.alive, state()?.installed], [false, true]);
});

test('of two replicas one may end: its component lives on', async () => {
  await replica('a');
  const { stop: end } = await replica('b');
  assert.equal(state()?.replicas.length, 2);
  await end();
  await stage.time.advance(30_000);
  assert.deepEqual([state()?.alive, state()?.replicas.length], [true, 1]);
});

test('a replica that is killed is live until its Lease has run out', async () => {
  const { pause } = await replica('a');
  pause(true);
  // It was renewed three seconds before, at most.
  await stage.time.advance(11_000);
  assert.equal(state()?.replicas.length, 1);
  await stage.time.advance(16_000);
  assert.equal(state()?.alive, false);
});

test('a watch that breaks keeps what it showed for half a minute, and is a warning', async () => {
  await replica('a');
  stage.api.trouble('authority', () => 403);
  stage.api.deafen('authority');
  stage.api.deafen('authority', false);
  await stage.time.advance(20_000);
  assert.equal(state()?.replicas.length, 1);
  assert.match(leases.warnings()[0] ?? '', /Leases in ns: .*unknown/);
  await stage.time.advance(20_000);
  assert.equal(state(), undefined);
  stage.api.trouble('authority');
  await stage.time.advance(40_000);
  assert.equal(state()?.replicas.length, 1);
});

test('before the Leases are listed nothing is known', () => {
  const component = recordedComponent({ leases: { namespace: 'ns', secretNamespaces: [] } });
  const never = createComponentLeases(
    component,
    NAMES,
    () => '',
    () => undefined,
  );
  assert.equal(never.of('signer'), undefined);
});
