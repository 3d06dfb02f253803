// SPDX-License-Identifier: Apache-2.0
/** The measurements are made up: whether a finding is red depends on no clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIRMATIONS, confirm, exceeds, lineOf } from './confirm.ts';
import type { Finding } from './measure.ts';
import { findingsOf } from './search.ts';

type Figures = Pick<Finding, 'ms' | 'ratio'> & { readonly pauseMs?: number };

const OVER: Figures = { ms: 5, ratio: 3.5 };
const UNDER: Figures = { ms: 5, ratio: 2.5 };

/** A finding whose later measurements are these, in their order. */
function finding(first: Figures, later: readonly Figures[] = [], source = 'x'): Finding {
  const rest = later.values();
  const made = ({ ms, ratio, pauseMs }: Figures): Finding => ({
    kind: 'REQUEST',
    source,
    ms,
    ratio,
    ...(pauseMs === undefined ? {} : { pause: { ms: pauseMs, withGarbageMs: pauseMs } }),
    again: () => {
      const next = rest.next();
      if (next.done === true) throw new Error('measured more often than five times');
      return Promise.resolve(made(next.value));
    },
  });
  return made(first);
}

async function isRed(later: readonly Figures[]): Promise<boolean> {
  const [confirmed] = await confirm([finding(OVER, later)]);
  return confirmed?.isRed ?? false;
}

test('a finding that returns in five of five runs is red', async () => {
  assert.equal(CONFIRMATIONS, 5);
  assert.equal(await isRed([OVER, OVER, OVER, OVER, OVER]), true);
});

test('a finding that one run of five lacks is not red, whichever it is', async () => {
  for (let lacking = 0; lacking < 5; lacking += 1) {
    const runs = Array.from({ length: 5 }, (_, run) => (run === lacking ? UNDER : OVER));
    assert.equal(await isRed(runs), false, `run ${lacking}`);
  }
});

test('a pause over its limit is a finding, without a price too', async () => {
  const long = { ms: 25, ratio: 0, pauseMs: 25 };
  assert.equal(exceeds(finding(long)), true);
  assert.equal(exceeds(finding({ ...long, pauseMs: 19 })), false);
  const [confirmed] = await confirm([finding(long, [long, long, long, long, long])]);
  assert.equal(confirmed?.isRed, true);
});

test('what takes less than a millisecond has no ratio that counts', () => {
  assert.equal(exceeds(finding({ ms: 0.9, ratio: 9 })), false);
});

test('findings are measured one after the other', async () => {
  let running = 0;
  const alone = (): Finding => ({
    ...finding(OVER),
    again: async () => {
      running += 1;
      assert.equal(running, 1);
      await Promise.resolve();
      running -= 1;
      return finding(OVER);
    },
  });
  await confirm([alone(), alone()]);
});

test('the report has the ratio of the search and those of the five runs', async () => {
  const [confirmed] = await confirm([finding(OVER, [OVER, UNDER, OVER, OVER, OVER], 'a == b')]);
  assert.ok(confirmed);
  assert.equal(
    lineOf(confirmed),
    'not repeated REQUEST: ratio 3.50, alone ratio 3.50, ratio 2.50, ratio 3.50, ratio 3.50, ratio 3.50: a == b',
  );
});

test('a search keeps each finding over a limit, the worst first, and no other', () => {
  const found = findingsOf([
    finding(UNDER, [], 'cheap'),
    finding(OVER, [], 'dear'),
    finding({ ms: 5, ratio: 9 }, [], 'dearest'),
  ]);
  assert.deepEqual(
    found.over.map(({ source }) => source),
    ['dearest', 'dear'],
  );
});
