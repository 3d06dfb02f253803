// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import { RestrainedWrites } from '#trust/trust-distributor/restrained-writes.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { anchor, signerWith } from '../../support/trust/bundles.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 5, 1);
const signer = signerWith([anchor('A').pem]);
const label = 'ConfigMap team-a/x-trust';
const key = 'team-a/x-trust';

/** A ConfigMap that another writer has just replaced. */
const object: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'x-trust',
    namespace: 'team-a',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    managedFields: [
      { manager: 'countersign-trust-distributor', fieldsV1: { 'f:data': {} } },
      { manager: 'argocd', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:data': {} } },
    ],
  },
};

/** Writes of a target on a clock, and what its signer reports. */
function stage(): {
  readonly writes: RestrainedWrites;
  readonly lagging: ReadonlyMap<string, string>;
  readonly clock: { now: number };
  readonly apply: (contents?: string) => ReturnType<RestrainedWrites['apply']>;
  readonly written: readonly number[];
  /** Times of reports. */
  readonly reports: readonly number[];
} {
  const clock = { now: START };
  const lagging = new Map<string, string>();
  const written: number[] = [];
  const reports: number[] = [];
  const laggards = {
    add: (_signer: unknown, target: string, note = '') => {
      lagging.set(target, note);
      reports.push(clock.now);
    },
    remove: (target: string) => void lagging.delete(target),
  };
  const writes = new RestrainedWrites(recordedComponent({ clock: () => clock.now }), laggards);
  const write = (): Promise<void> => Promise.resolve(void written.push(clock.now));
  const apply = (contents = 'ours'): ReturnType<RestrainedWrites['apply']> =>
    writes.apply({ key, label, contents, object, field: 'data', signer, write });
  return { writes, lagging, clock, apply, written, reports };
}

test('a target that is written once and kept is not reported', async () => {
  const { writes, lagging, apply, written } = stage();
  assert.equal(await apply(), undefined);
  assert.equal(writes.leave({ key, label }), undefined);
  assert.deepEqual([written.length, lagging.size], [1, 0]);
});

test('a fight for a ConfigMap is bounded, and its signer names the other writer', async () => {
  const { lagging, clock, apply, written } = stage();
  for (; clock.now < START + 6 * HOUR; clock.now += 1000) await apply();
  assert.ok(written.length < 50, `${written.length} writes in six hours`);
  assert.match(lagging.get(label) ?? '', /^field manager "argocd" replaces its data again/);
  const before = written.length;
  await apply('a new CA');
  assert.equal(written.length, before + 1, 'new anchors are never delayed');
});

test('a fight that has ended is reported for 20 minutes, and no longer', async () => {
  const { writes, lagging, clock, apply } = stage();
  await apply();
  await apply();
  assert.deepEqual(await apply(), { requeueAt: START + 5 * MINUTE });
  clock.now += 20 * MINUTE - 1;
  assert.deepEqual(writes.leave({ key, label }), { requeueAt: clock.now + 1 });
  assert.equal(lagging.size, 1);
  clock.now += 1;
  assert.equal(writes.leave({ key, label }), undefined);
  assert.equal(lagging.size, 0);
});

test('the report of a fight is repeated before its Lease drops it', async () => {
  const { writes, reports, clock, apply } = stage();
  for (let at = 0; at < 3; at += 1) await apply();
  for (let next = clock.now; next < START + 20 * MINUTE;) {
    const again = writes.leave({ key, label });
    assert.ok(typeof again === 'object' && 'requeueAt' in again);
    next = again.requeueAt;
    clock.now = next;
  }
  // A Lease keeps what was found for ten minutes (component/serving-state.ts).
  const gaps = reports.slice(1).map((at, index) => at - (reports[index] ?? NaN));
  assert.ok(reports.length >= 4 && gaps.every((gap) => gap < 10 * MINUTE), String(gaps));
});

test('a write that fails is not counted as one that another writer replaced', async () => {
  const { writes, clock, lagging } = stage();
  const write = (): Promise<void> => Promise.reject(new Error('no connection'));
  for (let at = 0; at < 5; at += 1) {
    const failing = { key, label, contents: 'ours', object, field: 'data', signer, write };
    await assert.rejects(writes.apply(failing), /no connection/);
    clock.now += 1000;
  }
  assert.equal(writes.leave({ key, label }), undefined);
  assert.equal(lagging.size, 0);
});
