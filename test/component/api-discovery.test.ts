// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { createApiDiscovery, type ApiDiscovery } from '#component/api-discovery.ts';
import { fakeTime, type FakeTime } from '../support/kube/fake-time.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { recordedLog } from '../support/component/recorded-log.ts';

const THINGS = resource({ group: 'example.com', version: 'v1', plural: 'things' });
/** Longer than one look lasts. */
const A_WHILE = 10_000;

let time: FakeTime;
let presence: ApiDiscovery;
let changes: boolean[];
let paths: () => readonly string[];
let server: () => unknown;
let stop: AbortController;
let running: Promise<void>;

const without = (): never => {
  throw new KubeError({ status: 404, what: 'GET' });
};
const having = (name: string) => () => ({ resources: [{ name }] });

beforeEach(() => {
  time = fakeTime();
  const client = recordedClient();
  server = without;
  client.answer(() => server());
  paths = () => client.requests.map(({ path }) => path);
  presence = createApiDiscovery({ client, delay: time.delay, log: recordedLog() }, THINGS);
  changes = [];
  presence.onChange(() => changes.push(presence.served));
  stop = new AbortController();
  running = presence.run(stop.signal);
});
afterEach(async () => {
  stop.abort(new Error('stopped'));
  await running;
});

test('an API kind that is not served is a warning and does not affect readiness', async () => {
  await time.advance(1);
  assert.deepEqual([presence.served, presence.notReady(), changes], [false, [], []]);
  assert.match(
    presence.warnings().join(),
    /does not serve things\.example\.com\/v1.*requests are not processed/,
  );
  assert.deepEqual(paths(), ['/apis/example.com/v1']);
});

test('the component starts soon after its kind appears, stops without it, and restarts', async () => {
  await time.advance(1);
  server = having('things');
  await time.advance(A_WHILE);
  assert.deepEqual([presence.served, changes, presence.warnings()], [true, [true], []]);
  server = without;
  await time.advance(A_WHILE);
  server = having('things');
  await time.advance(A_WHILE);
  assert.deepEqual(changes, [true, false, true]);
});

test('an API group without the kind counts as not served', async () => {
  server = having('others');
  await time.advance(A_WHILE);
  assert.equal(presence.served, false);
});

test('keeps the last answer while discovery fails, and is unready without one', async () => {
  const client = recordedClient();
  client.answer(() => {
    throw new KubeError({ status: 0, what: 'GET', cause: 'no route' });
  });
  const lost = createApiDiscovery({ client, delay: time.delay, log: recordedLog() }, THINGS);
  const looking = lost.run(stop.signal);
  await time.advance(A_WHILE);
  assert.match(lost.notReady().join(), /cannot find out.*no route/);
  server = having('things');
  await time.advance(A_WHILE);
  server = () => {
    throw new KubeError({ status: 503, what: 'GET' });
  };
  await time.advance(A_WHILE);
  assert.deepEqual([presence.served, presence.notReady(), changes], [true, [], [true]]);
  stop.abort(new Error('stopped'));
  await looking;
});
