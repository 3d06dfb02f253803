// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { AssertionResult, Case } from '#conformance/case.ts';

/** The result of one case, by its id. */
export function resultOf<S>(cases: readonly Case<S>[], id: string, snapshot: S): AssertionResult {
  const found = cases.find((each) => each.id === id);
  assert.ok(found);
  return found.evaluate(snapshot);
}
