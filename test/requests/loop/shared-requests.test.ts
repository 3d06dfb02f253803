// SPDX-License-Identifier: Apache-2.0
/** Each of several replicas works on its own requests, and on more when its share grows. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '../../cluster/until.ts';
import { PATIENCE_MS } from '../../support/kube/reflector-fixture.ts';
import {
  SIGNER_NAME,
  request,
  startControlled,
  type Controlled,
  type Request,
} from './controlled.ts';

/** Twice the duration of a Lease. */
const TAKEOVER_AFTER_MS = 30_000;

let it: Controlled;
let ours: Set<string>;
let changed: () => void;
beforeEach(async () => {
  ours = new Set(['a-1']);
  it = await startControlled({
    shard: {
      owns: (uid) => ours.has(uid),
      onChange: (listener) => {
        changed = listener;
      },
    },
  });
});
afterEach(() => it.stop());

const hear = (...objects: readonly object[]): void => {
  it.requests.lines(...objects.map((object) => ({ type: 'ADDED', object })));
};
/** By the clock of the scripted server, which says what time it is with every answer. */
const bornNow = (name: string, version: number): Request => {
  const made = request(name, version);
  const creationTimestamp = new Date().toISOString();
  return { ...made, metadata: { ...made.metadata, creationTimestamp } };
};

test('a request in another replica’s shard is never looked at', async () => {
  hear(bornNow('b', 5), bornNow('a', 6));
  await it.looked('a@6');
  it.changeCa(SIGNER_NAME);
  await until('ours is looked at again', PATIENCE_MS, () => it.looks.length === 2);
  assert.deepEqual(it.looks, ['a@6', 'a@6']);
});

test('a request that enters the shard is reconciled; one that leaves is not retried', async () => {
  it.answer(() => ({ outcome: 'waiting', reason: 'AuthorityMissing' }));
  hear(bornNow('a', 5), bornNow('b', 6));
  await it.looked('a@5');
  ours = new Set(['b-1']);
  changed();
  await it.looked('b@6');
  const before = it.looks.filter((look) => look === 'a@5').length;
  await it.time.advance(10_000);
  assert.equal(it.looks.filter((look) => look === 'a@5').length, before);
});

test('an overdue request is taken over again only on failure, reported if finished', async () => {
  it.answer((one) =>
    one.metadata.name === 'c'
      ? {
          outcome: 'issued',
          reason: 'Issued',
          written: { ...request('c', 9), done: true } as Request,
        }
      : { outcome: 'waiting', reason: 'AuthorityMissing' },
  );
  ours.clear();
  hear(bornNow('b', 5), bornNow('c', 6));
  await until('they are heard of', PATIENCE_MS, () =>
    it.component.counted.some(([name, , count]) => name === 'requestPending' && count === 2),
  );
  await it.time.advance(TAKEOVER_AFTER_MS + 5_000);
  await it.looked('b@5', 'c@6');
  await it.time.advance(20_000);
  assert.deepEqual([...it.looks].sort(), ['b@5', 'c@6']);
  await it.time.advance(40_000);
  assert.deepEqual([...it.looks].sort(), ['b@5', 'b@5', 'c@6']);
  const outcomes = it.component.counted.filter(([name]) => name === 'requests');
  assert.equal(outcomes.length, 1);
  assert.equal((outcomes[0]?.[1] as Record<string, string>)['outcome'], 'issued');
});
