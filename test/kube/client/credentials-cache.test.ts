// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credentials } from '#kube/client/connection.ts';
import { cacheCredentials } from '#kube/client/credentials-cache.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

/** A cache over a source that counts, and what it was asked for. */
function cached(): {
  time: ReturnType<typeof fakeTime>;
  cache: ReturnType<typeof cacheCredentials>;
  asked: boolean[];
  source: { fail: boolean };
  unreadable: () => number;
} {
  const time = fakeTime();
  const asked: boolean[] = [];
  const source = { fail: false };
  let unreadable = 0;
  const onUnreadable = (): void => void (unreadable += 1);
  const cache = cacheCredentials(
    (again) => {
      asked.push(again);
      return source.fail
        ? Promise.reject(new Error('no such file'))
        : Promise.resolve({ tls: {}, authorization: `Bearer ${asked.length}` });
    },
    { ...time, onUnreadable },
  );
  return { time, cache, asked, source, unreadable: () => unreadable };
}

const tokenOf = async (credentials: Promise<Credentials>): Promise<string | undefined> =>
  (await credentials).authorization;

test('credentials are read once a minute, and callers share the object between reads', async () => {
  const { time, cache, asked } = cached();
  const first = await cache.credentials();
  await time.advance(59_999);
  assert.equal(await cache.credentials(), first);
  await time.advance(1);
  assert.equal(await tokenOf(cache.credentials()), 'Bearer 2');
  assert.deepEqual(asked, [false, false]);
});

test('a clock that is set back an hour does not delay the next read by that hour', async () => {
  let now = 3_600_000;
  const tokens = ['old', 'new'];
  const read = (): Promise<Credentials> =>
    Promise.resolve({ tls: {}, authorization: String(tokens.shift()) });
  const cache = cacheCredentials(read, { clock: () => now });
  assert.equal(await tokenOf(cache.credentials()), 'old');
  now = 0;
  assert.equal(await tokenOf(cache.credentials()), 'new');
});

test('concurrent callers share one read', async () => {
  const { cache, asked } = cached();
  await Promise.all(Array.from({ length: 20 }, () => cache.credentials()));
  assert.equal(asked.length, 1);
});

test('rejected credentials are read again, exec plugins included, once for all callers', async () => {
  const { cache, asked } = cached();
  const refused = await cache.credentials();
  cache.invalidate(refused);
  const fresh = await cache.credentials();
  assert.deepEqual([fresh.authorization, asked], ['Bearer 2', [false, true]]);
  cache.invalidate(refused);
  assert.equal(await cache.credentials(), fresh, 'the late refusal was of the old ones');
});

test('old credentials stay in use while new ones are unreadable, but not rejected ones', async () => {
  const { time, cache, source, asked, unreadable } = cached();
  await cache.credentials();
  source.fail = true;
  await time.advance(60_000);
  const kept = await cache.credentials();
  assert.equal(kept.authorization, 'Bearer 1');
  assert.equal(await cache.credentials(), kept);
  assert.deepEqual([asked.length, unreadable()], [2, 1], 'not read with each call');
  cache.invalidate(kept);
  await assert.rejects(cache.credentials(), /no such file/);
  source.fail = false;
  assert.equal(await tokenOf(cache.credentials()), 'Bearer 4');
});

test('a first read that fails is an error, and the next call reads again', async () => {
  const { cache, source } = cached();
  source.fail = true;
  await assert.rejects(cache.credentials(), /no such file/);
  source.fail = false;
  assert.equal(await tokenOf(cache.credentials()), 'Bearer 2');
});
