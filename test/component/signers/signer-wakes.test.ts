// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivedName } from '#api/signer/signer.ts';
import { createSignerWakes } from '#component/signers/signer-wakes.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const TEAM = derivedName({ namespace: 'team-a', name: 'web' });
/** An author's kind of the library. */
const OTHER = 'testissuers.example.com/team-b.web';

interface Waiting {
  readonly at: number;
  readonly resolve: () => void;
}

/** A clock that stands still until it is told. */
function started(): {
  readonly looked: string[];
  readonly wake: (signerName: string) => void;
  readonly stop: () => void;
  readonly advance: (milliseconds: number) => Promise<void>;
} {
  let now = 0;
  let waiting: readonly Waiting[] = [];
  const looked: string[] = [];
  const delay = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting = [...waiting, { at: now + milliseconds, resolve }];
      signal?.addEventListener('abort', () => {
        reject(new Error('stopped'));
      });
    });
  const isOfNamespace = (name: string): boolean => [TEAM, OTHER].includes(name);
  const look = (name: string): unknown => looked.push(name);
  const wakes = createSignerWakes({ clock: () => now, delay }, { isOfNamespace, look });
  return {
    looked,
    ...wakes,
    advance: async (milliseconds) => {
      now += milliseconds;
      const due = waiting.filter(({ at }) => at <= now);
      waiting = waiting.filter(({ at }) => at > now);
      for (const { resolve } of due) resolve();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

test('a Signer written in a loop wakes its requests once a second and the last time', async () => {
  const { looked, wake, advance } = started();
  for (let write = 0; write < 100; write += 1) wake(TEAM);
  assert.equal(looked.length, 5);
  for (let second = 0; second < 10; second += 1) {
    for (let write = 0; write < 100; write += 1) wake(TEAM);
    await advance(1_000);
  }
  assert.equal(looked.length, 15);
  await advance(60_000);
  assert.equal(looked.length, 15);
});

test('what wakes one Signer delays no other one, and no ClusterSigner', () => {
  const { looked, wake } = started();
  for (let write = 0; write < 100; write += 1) wake(TEAM);
  for (let write = 0; write < 100; write += 1) wake(OTHER);
  const { signerName } = workload().spec;
  for (let write = 0; write < 100; write += 1) wake(signerName);
  assert.equal(looked.filter((name) => name === OTHER).length, 5);
  assert.equal(looked.filter((name) => name === signerName).length, 100);
});

test('a wake that is to come does not outlive the controller', async () => {
  const { looked, wake, stop, advance } = started();
  for (let write = 0; write < 10; write += 1) wake(TEAM);
  stop();
  await advance(10_000);
  assert.equal(looked.length, 5);
});
