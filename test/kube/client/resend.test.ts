// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '#kube/client/client.ts';
import { KubeError, type KubeErrorInit } from '#kube/client/kube-error.ts';
import { resendingClient } from '#kube/client/resend.ts';

interface Sent {
  readonly client: Client;
  readonly waits: number[];
  readonly count: () => number;
}

/** Answers each request with the next of `answers`, and then with success. */
function answering(...answers: readonly Partial<KubeErrorInit>[]): Sent {
  const waits: number[] = [];
  let sent = 0;
  const send = (): Promise<unknown> => {
    const answer = answers[sent++];
    if (answer === undefined) return Promise.resolve('done');
    return Promise.reject(new KubeError({ status: 500, what: 'PUT', ...answer }));
  };
  const inner = { request: send, stream: send } as unknown as Client;
  const delay = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
  return {
    client: resendingClient(inner, { delay, maxWaitMs: 30_000 }),
    waits,
    count: () => sent,
  };
}

const PUT = { method: 'PUT', path: '/a' } as const;

test('a request is sent again after the Retry-After of a 429, or a second', async () => {
  const { client, waits } = answering({ status: 429, retryAfter: 7_000 }, { status: 429 });
  assert.equal(await client.request(PUT), 'done');
  assert.deepEqual(waits, [7_000, 1_000]);
});

test('no wait is longer than the limit, and the last 429 is thrown', async () => {
  const busy = Array.from({ length: 9 }, () => ({ status: 429, retryAfter: 600_000 }));
  const { client, waits, count } = answering(...busy);
  await assert.rejects(client.stream(PUT), { status: 429 });
  assert.deepEqual([waits, count()], [Array.from({ length: 5 }, () => 30_000), 6]);
});

for (const status of [0, 403, 409, 500, 503, 504]) {
  test(`a request answered with ${status} is not sent again, since it may have landed`, async () => {
    const { client, count } = answering({ status });
    await assert.rejects(client.request(PUT), { status });
    assert.equal(count(), 1);
  });
}
