// SPDX-License-Identifier: Apache-2.0
/** The stream of the page Requests, to readers that stop or leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { LiveRequests, RequestChange } from '#console/live-requests.ts';
import type { RequestRow } from '#console/pages/requests.ts';
import { streamRequests, type WriteChunk } from '#console/server/stream.ts';

function row(name: string): RequestRow {
  const base = { subject: `csr/${name}`, signerName: 'example.com/a', requester: 'user a' };
  return { ...base, createdAt: '2026-01-01T00:00:00Z', state: 'approval', note: '' };
}

/** Streams `rows` until `signal` is aborted. */
function stream(write: WriteChunk, signal: AbortSignal, failures: readonly string[] = []) {
  const listeners: ((change: RequestChange) => void)[] = [];
  const rows: RequestRow[] = [];
  const live: LiveRequests = {
    ready: () => Promise.resolve(),
    rows: () => rows,
    failures: () => failures,
    subscribe: (listener) => listeners.push(listener),
  };
  const init = {
    live,
    readings: { now: () => 0 },
    hasEnded: () => false,
    monotonic: () => 0,
    delay: async () => {
      await turn();
    },
  };
  const add = (name: string): void => {
    rows.push(row(name));
    for (const each of listeners) each({ now: row(name), before: undefined });
  };
  return { add, listeners, done: streamRequests(init, { from: 0 }, write, signal) };
}

test('a reader that stops reading gets one whole page afterwards, not each change', async (t) => {
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const chunks: string[] = [];
  let resume = Promise.withResolvers<undefined>();
  const write: WriteChunk = async (chunk) => {
    chunks.push(chunk);
    await resume.promise;
  };
  const { add, done } = stream(write, stop.signal);
  for (let count = 0; count < 200; count += 1) {
    add(`r${count}`);
    if (count % 10 === 0) await turn();
  }
  assert.equal(chunks.length, 1);
  const first = resume;
  resume = Promise.withResolvers();
  first.resolve(undefined);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  assert.equal(chunks.length, 2);
  assert.match(chunks[1] ?? '', /"page":.*"total":200/);
  stop.abort();
  resume.resolve(undefined);
  await done;
});

test('a failure of a watch is sent without a change of rows, and its end as well', async () => {
  const stop = new AbortController();
  const chunks: string[] = [];
  const failures: string[] = [];
  const write = (chunk: string): Promise<void> => {
    chunks.push(chunk);
    return Promise.resolve();
  };
  const { done } = stream(write, stop.signal, failures);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  failures.push('csrs: the watch closed');
  for (let turns = 0; turns < 5; turns += 1) await turn();
  failures.pop();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  stop.abort();
  await done;
  assert.equal(chunks.length, 3);
  assert.match(chunks[1] ?? '', /^data: {"now":0,"failures":\["csrs: the watch closed"\]}/);
  assert.match(chunks[2] ?? '', /"failures":\[\]/);
});

test('a reader that left before the first row keeps no subscription', async () => {
  const { listeners, done } = stream(() => Promise.resolve(), AbortSignal.abort());
  await done;
  assert.deepEqual(listeners, []);
});
