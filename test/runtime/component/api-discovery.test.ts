// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { KubeError } from '../../../src/kube/client/kube-error.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import {
  createApiDiscovery,
  type ApiDiscovery,
} from '../../../src/runtime/component/api-discovery.ts';
import { fakeTime, type FakeTime } from '../../support/kube/fake-time.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

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

test('a kind that is not served is no fault, and is told as a warning', async () => {
  await time.advance(1);
  assert.deepEqual([presence.served, presence.notReady(), changes], [false, [], []]);
  assert.match(presence.warnings().join(), /does not serve things\.example\.com\/v1.*nothing is answered/);
  assert.deepEqual(paths(), ['/apis/example.com/v1']);
});

test('it is awake soon after the kind appears, dormant after it goes, and awake again', async () => {
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

test('a group that has other kinds only is as good as none', async () => {
  server = having('others');
  await time.advance(A_WHILE);
  assert.equal(presence.served, false);
});

test('who cannot ask goes by what was known, and where nothing was it is not ready', async () => {
  const client = recordedClient();
  client.answer(() => {
    throw new KubeError({ status: 0, what: 'GET', cause: 'no route' });
  });
  const lost = createApiDiscovery({ client, delay: time.delay, log: recordedLog() }, THINGS);
  const looking = lost.run(stop.signal);
  await time.advance(A_WHILE);
  assert.match(lost.notReady().join(), /not known.*no route/);
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
