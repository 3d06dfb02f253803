// SPDX-License-Identifier: Apache-2.0
/** ADR 0021: an Event that is recorded before the write that it announces, by any process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDetails } from '#kube/events/body.ts';
import { createEventRecorder, type EventRecorder } from '#kube/events/recorder.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

interface Stage {
  readonly time: FakeTime;
  readonly client: RecordedClient;
  readonly events: EventRecorder;
  readonly dropped: readonly string[];
}

/** One process; another one draws other random numbers. */
function start(): Stage {
  const [time, client, dropped] = [
    fakeTime(Date.UTC(2026, 10, 21)),
    recordedClient(),
    [] as string[],
  ];
  const events = createEventRecorder({
    ...time,
    client,
    log: recordedLog(),
    onDropped: (cause) => dropped.push(cause),
    controller: 'countersign.dev/authority',
    instance: 'authority-0',
    random: (size) => new Uint8Array(size).map(() => Math.floor(Math.random() * 256)),
  });
  return { time, client, events, dropped };
}

const note: EventDetails = {
  regarding: {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    name: 'a',
    uid: 'u-1',
  },
  type: 'Normal',
  reason: 'AuthorityActive',
  action: 'Rotate',
  note: 'sha256:… signs from now on',
};

test('any process that records an occasion, however often, writes the same Event', async () => {
  const nameOf = async ({ events, client, time }: Stage, occasion: string): Promise<unknown> => {
    const told = events.recordOnce(note, occasion);
    await time.advance(0);
    await told;
    const { metadata } = client.requests.at(-1)?.body as { metadata: { name: string } };
    return metadata.name;
  };
  const [one, another] = [start(), start()];
  const first = await nameOf(one, 'u-1/7');
  assert.deepEqual(await nameOf(one, 'u-1/7'), first);
  assert.deepEqual(await nameOf(another, 'u-1/7'), first);
  assert.notDeepEqual(await nameOf(one, 'u-1/8'), first);
});

test('an Event that already exists is not counted as dropped', async () => {
  const { events, client, time, dropped } = start();
  client.answer(({ path }) => {
    throw new KubeError({ status: 409, what: path, body: { reason: 'AlreadyExists' } });
  });
  const told = events.recordOnce(note, 'u-1/7');
  await time.advance(0);
  await told;
  assert.deepEqual(dropped, []);
});

test('recordOnce waits for the write, two seconds at most', async () => {
  const { events, client, time } = start();
  const answer = Promise.withResolvers<object>();
  client.answer(() => answer.promise);
  let isTold = false;
  void events.recordOnce(note, 'u-1/7').then(() => {
    isTold = true;
  });
  await time.advance(1_999);
  assert.equal(isTold, false);
  await time.advance(1);
  assert.equal(isTold, true);
  answer.resolve({});
});
