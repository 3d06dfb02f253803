// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { RequestInit } from '#kube/client/client.ts';
import type { EventDetails } from '#kube/events/body.ts';
import { createEventRecorder, type EventRecorder } from '#kube/events/recorder.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

let time: FakeTime;
let client: RecordedClient;
let log: ReturnType<typeof recordedLog>;
let events: EventRecorder;
let dropped: string[];
beforeEach(() => {
  time = fakeTime(Date.UTC(2026, 10, 21, 1, 2, 3, 4));
  client = recordedClient();
  dropped = [];
  log = recordedLog();
  // The first draw is the seed of the sender's queue.
  let count = -1;
  events = createEventRecorder({
    ...time,
    client,
    log,
    onDropped: (cause) => dropped.push(cause),
    controller: 'countersign.dev/signer',
    instance: 'signer-0',
    random: (size) => new Uint8Array(size).fill((count += 1)),
  });
});

const note: EventDetails = {
  regarding: {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    name: 'jane',
    uid: 'u-1',
  },
  type: 'Warning',
  reason: 'NotAllowed',
  action: 'Approve',
  note: 'no rule covers it',
};

const pod = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: 'team-a', uid: 'u-2' };

/** Method and path of each request so far. */
function sent(): string[] {
  return client.requests.map(({ method, path }) => `${method} ${path}`);
}

function bodyOf(request: RequestInit | undefined): Record<string, unknown> {
  return request?.body as Record<string, unknown>;
}

const DEFAULT = '/apis/events.k8s.io/v1/namespaces/default/events';

test('an Event has every field that events.k8s.io/v1 requires, with microsecond times', async () => {
  events.record({ ...note, regarding: pod, related: note.regarding });
  await time.advance(0);
  assert.deepEqual(sent(), ['POST /apis/events.k8s.io/v1/namespaces/team-a/events']);
  const { metadata, ...body } = bodyOf(client.requests[0]);
  assert.deepEqual(metadata, {
    name: `web-0.${time.clock().toString(16)}01010101`,
    namespace: 'team-a',
  });
  assert.deepEqual(body, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-11-21T01:02:03.004000Z',
    reportingController: 'countersign.dev/signer',
    reportingInstance: 'signer-0',
    action: 'Approve',
    reason: 'NotAllowed',
    type: 'Warning',
    note: 'no rule covers it',
    regarding: pod,
    related: note.regarding,
  });
});

test('an Event about a cluster-scoped object is in the namespace default', async () => {
  events.record(note);
  await time.advance(0);
  assert.deepEqual(sent(), [`POST ${DEFAULT}`]);
});

test('a note longer than 1,024 bytes is cut between characters', async () => {
  for (const text of ['x'.repeat(3_000), 'ü'.repeat(900), `x${'😀'.repeat(900)}`]) {
    events.record({ ...note, note: text });
    await time.advance(0);
    const cut = String(bodyOf(client.requests.at(-1))['note']);
    assert.ok(Buffer.byteLength(cut) <= 1_024, `${Buffer.byteLength(cut)} bytes`);
    assert.ok(Buffer.byteLength(cut) > 1_010);
    assert.ok(text.startsWith(cut.slice(0, -1)) && cut.endsWith('…'));
  }
  events.record({ ...note, note: 'y'.repeat(1_024) });
  await time.advance(0);
  assert.equal(bodyOf(client.requests.at(-1))['note'], 'y'.repeat(1_024));
});

test('the name of an Event is a DNS subdomain, whatever the name of its object', async () => {
  for (const name of ['system:node:a', 'UPPER.Case', '.-.', 'a'.repeat(253), 'a..b', 'a.-b-.c']) {
    events.record({ ...note, regarding: { ...note.regarding, name } });
  }
  await time.advance(0);
  for (const request of client.requests) {
    const { name } = bodyOf(request)['metadata'] as { name: string };
    assert.ok(name.length <= 253);
    assert.match(name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
  assert.equal(client.requests.length, 6);
});

test('a repeated Event within ten minutes updates its series, once a minute at most', async () => {
  events.record(note);
  await time.advance(1_000);
  for (let again = 0; again < 50; again += 1) events.record(note);
  await time.advance(0);
  const [, patch] = client.requests;
  assert.deepEqual(patch?.body, {
    series: { count: 2, lastObservedTime: '2026-11-21T01:02:04.004000Z' },
  });
  assert.equal(patch.contentType, 'application/merge-patch+json');
  assert.match(patch.path, new RegExp(`^${DEFAULT}/jane\\.[0-9a-f]+$`));
  assert.equal(client.requests.length, 2);
  await time.advance(60_000);
  events.record(note);
  await time.advance(0);
  assert.deepEqual(bodyOf(client.requests[2])['series'], {
    count: 52,
    lastObservedTime: '2026-11-21T01:03:04.004000Z',
  });
  await time.advance(10 * 60_000);
  events.record(note);
  await time.advance(0);
  assert.equal(client.requests[3]?.method, 'POST', 'after ten minutes it is news again');
});

test('a different object, reason or note makes a new Event', async () => {
  events.record(note);
  events.record({ ...note, reason: 'Other' });
  events.record({ ...note, note: 'other' });
  events.record({ ...note, regarding: { ...note.regarding, uid: 'u-9' } });
  await time.advance(0);
  assert.deepEqual(sent(), Array(4).fill(`POST ${DEFAULT}`));
});

test('an Event waits for the API server, honours Retry-After, and is written once', async () => {
  let answers = 0;
  client.answer(() => {
    answers += 1;
    if (answers === 1) throw new KubeError({ status: 0, what: 'POST', cause: new Error('gone') });
    if (answers === 2) throw new KubeError({ status: 429, what: 'POST', retryAfter: 5_000 });
    // Our first try was stored after all.
    throw new KubeError({ status: 409, what: 'POST', body: { reason: 'AlreadyExists' } });
  });
  events.record(note);
  await time.advance(0);
  assert.ok((time.waits()[0] ?? 0) < 1_000);
  await time.advance(1_000);
  assert.equal(answers, 2);
  await time.advance(4_000);
  assert.equal(answers, 2);
  await time.advance(1_000);
  assert.equal(answers, 3);
  assert.deepEqual(log.lines, []);
  events.record(note);
  await time.advance(0);
  assert.equal(client.requests.at(-1)?.method, 'PATCH');
});

test('a refused Event is logged and dropped, and the next occurrence makes a new one', async () => {
  client.answer(() => {
    throw new KubeError({
      status: 403,
      what: 'POST',
      body: { reason: 'Forbidden', message: 'no' },
    });
  });
  events.record(note);
  await time.advance(0);
  assert.match(String(log.lines[0]?.fields['error']), /403 Forbidden: no/);
  assert.deepEqual(dropped, ['refused']);
  client.answer(() => ({}));
  events.record(note);
  await time.advance(0);
  assert.deepEqual(sent(), [`POST ${DEFAULT}`, `POST ${DEFAULT}`]);
});

test('a series whose Event was deleted starts with a new Event', async () => {
  events.record(note);
  await time.advance(0);
  client.answer(() => {
    throw new KubeError({ status: 404, what: 'PATCH' });
  });
  events.record(note);
  await time.advance(0);
  client.answer(() => ({}));
  events.record(note);
  await time.advance(0);
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  );
});

test('Events are limited to ten a second, and a dropped one is written when it recurs', async () => {
  const storm = (): void => {
    for (let index = 0; index < 10_000; index += 1) {
      events.record({ ...note, regarding: { ...note.regarding, name: `r-${index}` } });
    }
  };
  storm();
  await time.advance(0);
  const created = (): number => client.requests.filter(({ method }) => method === 'POST').length;
  assert.equal(created(), 100);
  assert.deepEqual(dropped, Array(9_900).fill('rate'));
  await time.advance(1_000);
  storm();
  await time.advance(0);
  assert.equal(created(), 110);
});

test('updates of a series have their own rate limit', async () => {
  const say = (from: number, to: number): void => {
    for (let index = from; index < to; index += 1) events.record({ ...note, note: String(index) });
  };
  say(0, 100);
  await time.advance(5_000);
  say(100, 150);
  say(0, 150);
  await time.advance(0);
  const methods = client.requests.map(({ method }) => method);
  assert.equal(methods.filter((each) => each === 'POST').length, 150);
  assert.equal(methods.filter((each) => each === 'PATCH').length, 100);
});

test('recording returns at once, never throws, and uses bounded memory', async () => {
  let resume = (_answer: unknown): void => undefined;
  client.answer(() => new Promise((resolve) => (resume = resolve)));
  for (let minute = 0; minute < 200; minute += 1) {
    for (let index = 0; index < 50; index += 1) {
      events.record({ ...note, note: `${minute} ${index}` });
    }
    await time.advance(10_000);
  }
  assert.equal(client.requests.length, 1, 'one at a time');
  client.answer(() => ({}));
  resume({});
  await time.advance(0);
  assert.equal(client.requests.length, 1 + 1_000);
  const count = (cause: string): number => dropped.filter((each) => each === cause).length;
  assert.deepEqual([count('full'), count('rate')], [200 * 50 - 1 - 1_000, 0]);
});

test('flush writes pending Events before the process exits', async () => {
  events.record(note);
  await events.flush();
  assert.equal(client.requests.length, 1);
  assert.deepEqual(time.waits(), []);
});

test('flush gives up after five seconds', async () => {
  client.answer(() => {
    throw new KubeError({ status: 503, what: 'POST', retryAfter: 600_000 });
  });
  events.record({ ...note, note: 'never' });
  let flushed = false;
  const flushing = events.flush().then(() => (flushed = true));
  await time.advance(4_999);
  assert.equal(flushed, false);
  await time.advance(1);
  await flushing;
  await time.advance(0);
  assert.deepEqual(time.waits(), [], 'no timer keeps the process alive');
});
