// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallTimeout } from '#library/calls/call-timeout.ts';
import { fakeTime } from '../support/kube/fake-time.ts';

test('a call that returns in time leaves no timer', async () => {
  const time = fakeTime();
  const limit = createCallTimeout(time.delay, 5_000);
  assert.equal(await limit(() => Promise.resolve(7)), 7);
  await time.advance(1_000);
  assert.deepEqual(time.waits(), []);
});

test('each call has its own timeout, accurate to a second, and others continue', async () => {
  const time = fakeTime();
  const limit = createCallTimeout(time.delay, 5_000);
  const other = Promise.withResolvers<string>();
  const first = assert.rejects(
    limit(() => new Promise(() => undefined)),
    /within 5000 ms/,
  );
  await time.advance(4_000);
  const second = limit(() => other.promise);
  await time.advance(1_000);
  await first;
  other.resolve('in time');
  assert.equal(await second, 'in time');
});
