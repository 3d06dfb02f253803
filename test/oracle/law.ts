// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { compare, type Comparison, type Findings } from './compare.ts';
import { openOracle } from './oracle.ts';
import { countRows, strictnessOf } from './strictness.ts';

/** We never accept what Go refuses, and where we are stricter somebody has written why. */
export async function holdLaw(t: TestContext, wanted: Comparison): Promise<Findings> {
  await using oracle = await openOracle();
  const found = await compare(oracle, wanted);
  for (const line of countRows(found.stricter)) t.diagnostic(line);
  t.diagnostic(`of ${wanted.count}: ${found.levels.join(' refused, ')} accepted`);
  assert.deepEqual(found.wrong, []);
  const unexplained = [...found.stricter.keys()].filter((each) => strictnessOf(each) === undefined);
  assert.deepEqual(unexplained, []);
  // A run in which nothing gets through proves nothing.
  assert.ok((found.levels[2] ?? 0) > wanted.count / 100);
  return found;
}
