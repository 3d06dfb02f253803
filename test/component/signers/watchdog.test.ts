// SPDX-License-Identifier: Apache-2.0
/**
 * What V8 really ends, on the real clocks. deadline.test.ts has the laws, on clocks that stand
 * still.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import {
  SliceEnded,
  createSignerDeadline,
  type SignerDeadline,
} from '#component/signers/deadline.ts';

/** What is promised, in milliseconds of the thread's own time. */
const PROMISED_MS = 20;

/** Nothing that our code could notice: only another thread ends it. */
function forever(): never {
  for (;;);
}

const evaluate = (work: () => unknown) => (deadline: SignerDeadline) =>
  deadline.evaluate('spec.pods.allow', work);

function stubborn(): never {
  for (;;) {
    try {
      forever();
    } catch {
      // Try again.
    } finally {
      forever();
    }
  }
}

let namespaces = 0;

/** How what never completes by itself was ended. Each has a namespace, and a turn, of its own. */
async function ended(work: (deadline: SignerDeadline) => unknown): Promise<SliceEnded> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  namespaces += 1;
  const owner = { namespace: `team-${namespaces}`, name: 'web' };
  const deadline = createSignerDeadline(owner, () => undefined);
  try {
    work(deadline);
  } catch (error) {
    if (error instanceof SliceEnded) return error;
    throw error;
  }
  throw new Error('the work completed');
}

const ENDLESS: Readonly<Record<string, () => unknown>> = {
  'a loop': forever,
  'a regular expression': () => /^(a+)+$/.test(`${'a'.repeat(60)}!`),
  'a sort': () => [3, 2, 1].sort(forever),
  'a built-in loop': () => 'aaa'.split('').map(forever),
  'code that catches and cleans up': stubborn,
};

for (const [what, work] of Object.entries(ENDLESS)) {
  test(`${what} is ended, and the field that held it is named`, async () => {
    const { where, step, usedMs } = await ended(evaluate(work));
    assert.deepEqual([where, step], ['spec.pods.allow', 'evaluate']);
    assert.ok(usedMs > 0);
  });
}

test('what is ended has held the event loop for no more than is promised', async () => {
  // On a busy machine the thread that watches waits for its own turn: one of many is undisturbed.
  let shortest = Infinity;
  for (let trial = 0; trial < 100 && shortest > PROMISED_MS; trial += 1) {
    shortest = Math.min(shortest, (await ended(evaluate(forever))).usedMs);
  }
  assert.ok(shortest <= PROMISED_MS, `the event loop was held for ${shortest} ms`);
});

test('what is ended leaves the stacks of other errors as they were', async () => {
  const limit = Error.stackTraceLimit;
  await ended(
    evaluate(() => {
      Error.stackTraceLimit = 0;
      forever();
    }),
  );
  assert.equal(Error.stackTraceLimit, limit);
});

test('of many expressions, the one that does not end is named and told', async () => {
  const told: string[] = [];
  const tell = (name: string) => () => void told.push(name);
  const { where } = await ended((deadline) =>
    deadline.together('spec.pods', 1, () => {
      deadline.evaluate('spec.pods.allow', () => true, tell('allow'));
      return deadline.evaluate('spec.pods.uris[0]', forever, tell('uris[0]'));
    }),
  );
  assert.deepEqual([where, told], ['spec.pods.uris[0]', ['uris[0]']]);
});
