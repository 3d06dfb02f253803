// SPDX-License-Identifier: Apache-2.0
/** Events share one rate limit and one queue: no flow silences another. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { EventDetails } from '#kube/events/body.ts';
import { createEventRecorder, type EventRecorder } from '#kube/events/recorder.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

let time: FakeTime;
let client: RecordedClient;
let events: EventRecorder;
beforeEach(() => {
  time = fakeTime();
  client = recordedClient();
  events = createEventRecorder({
    ...time,
    client,
    log: recordedLog(),
    onDropped: () => undefined,
    controller: 'countersign.dev/signer',
    instance: 'signer-0',
    random: (size) => new Uint8Array(size),
  });
});

const note = { type: 'Warning', reason: 'NotAllowed', action: 'Issue', note: 'no' } as const;

/** An Event about an object of its own. */
function about(namespace: string, name: string): EventDetails {
  return { ...note, regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: name } };
}

function writtenIn(namespace: string, method = 'POST'): number {
  const path = `/namespaces/${namespace}/events`;
  return client.requests.filter((each) => each.method === method && each.path.includes(path))
    .length;
}

for (const tenants of [1, 10]) {
  test(`${tenants} tenants with 40 Events a second do not silence one with one a second`, async () => {
    for (let second = 0; second < 60; second += 1) {
      for (let each = 0; each < 40; each += 1) {
        for (let tenant = 0; tenant < tenants; tenant += 1)
          events.record(about(`hostile-${tenant}`, `h-${second}-${each}`));
        // At a moment when the others have just taken what there was.
        if (each === 20) events.record(about('victim', `v-${second}`));
        await time.advance(25);
      }
    }
    await time.advance(0);
    assert.equal(writtenIn('victim'), 60);
    const all = client.requests.length;
    assert.ok(all > 600 && all <= 125 + 60 * 10, `${all} written`);
  });
}

for (const tenants of [16, 18, 300]) {
  test(`beside ${tenants} greedy tenants a flow that spent nothing gets its Event`, async () => {
    // A flow gets an equal part of ten Events a second: with 300 greedy ones an Event in 30
    // seconds.
    const period = Math.ceil((tenants + 1) / 10) + 1;
    for (let second = 0; second < 10 * period; second += 1) {
      for (let tenant = 0; tenant < tenants; tenant += 1)
        for (const each of ['a', 'b', 'c'])
          events.record(about(`hostile-${tenant}`, `${each}-${second}`));
      // At a moment when the others have just taken what there was.
      if (second % period === period - 1) events.record(about('victim', `v-${second}`));
      await time.advance(1_000);
    }
    await time.advance(0);
    assert.equal(writtenIn('victim'), 10);
    const all = client.requests.length;
    const most = 125 + tenants + 1 + 10 * period * 10;
    assert.ok(all <= most, `${all} written of ${most}`);
  });
}

test('newcomers are not silenced by flows that are there for the first time, too', async () => {
  for (let tenant = 0; tenant < 1_000; tenant += 1)
    for (let each = 0; each < 3; each += 1) events.record(about(`hostile-${tenant}`, `h-${each}`));
  events.record(about('victim', 'v'));
  await time.advance(0);
  assert.equal(writtenIn('victim'), 1);
});

test('flows without number cannot have any number of Events written at once', async () => {
  for (let tenant = 0; tenant < 20_000; tenant += 1) events.record(about(`hostile-${tenant}`, 'h'));
  await time.advance(0);
  assert.ok(client.requests.length <= 4_096 + 125, `${client.requests.length} written`);
});

test('while the server hangs, hundreds of flows leave a newcomer a place', async () => {
  let resume = (_answer: unknown): void => undefined;
  client.answer(() => new Promise((resolve) => (resume = resolve)));
  for (let second = 0; second < 240; second += 1) {
    for (let tenant = 0; tenant < 400; tenant += 1)
      for (const each of ['a', 'b', 'c'])
        events.record(about(`hostile-${tenant}`, `${each}-${second}`));
    await time.advance(1_000);
  }
  events.record(about('victim', 'v'));
  client.answer(() => ({}));
  resume({});
  await time.advance(0);
  assert.equal(writtenIn('victim'), 1);
  assert.ok(client.requests.length <= 1_250 + 401, `${client.requests.length} were queued`);
});

test('repetitions in one flow do not silence the counts of another', async () => {
  for (let index = 0; index < 100; index += 1) {
    events.record(about('hostile', `h-${index}`));
    await time.advance(100);
  }
  events.record(about('victim', 'v'));
  for (let index = 0; index < 100; index += 1) events.record(about('hostile', `h-${index}`));
  events.record(about('victim', 'v'));
  await time.advance(0);
  assert.equal(writtenIn('victim', 'PATCH'), 1);
});

test('a flow that is named counts instead of the namespace', async () => {
  for (let index = 0; index < 1_000; index += 1)
    events.record({ ...about('default', `h-${index}`), flow: 'user hostile' });
  events.record({ ...about('default', 'v'), flow: 'user victim' });
  await time.advance(0);
  const bodies = client.requests.map(({ body }) => body as Record<string, unknown>);
  const names = bodies.map(({ regarding }) => (regarding as EventDetails['regarding']).name);
  assert.equal(names.filter((name) => name === 'v').length, 1);
  assert.ok(bodies.every((body) => !('flow' in body)));
});

test('while the server hangs, one flow cannot fill the queue; flows take turns later', async () => {
  let resume = (_answer: unknown): void => undefined;
  client.answer(() => new Promise((resolve) => (resume = resolve)));
  for (let index = 0; index < 200; index += 1) {
    for (let each = 0; each < 10; each += 1) events.record(about('hostile', `h-${index}-${each}`));
    await time.advance(1_000);
  }
  events.record(about('victim', 'v'));
  client.answer(() => ({}));
  resume({});
  await time.advance(0);
  const place = client.requests.findIndex(({ path }) => path.includes('/victim/'));
  assert.ok(place === 1 || place === 2, `sent as request ${place}`);
});
