// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '#conformance/case.ts';
import { CTB_CASES } from '#conformance/ctb/cases.ts';
import { CTB_BROKEN } from '../support/conformance/ctb-broken.ts';
import { goodCtbSnapshot } from '../support/conformance/ctb-snapshot.ts';

test('a conforming publisher passes every case', () => {
  const wrong = evaluateAll(CTB_CASES, goodCtbSnapshot()).filter(
    ({ outcome }) => outcome !== 'pass',
  );
  assert.deepEqual(wrong, []);
});

for (const { id, asserts, evaluate: judge } of CTB_CASES) {
  test(`${id} fails for a signer that breaks it: ${asserts}`, () => {
    const broken = CTB_BROKEN[id];
    assert.ok(broken !== undefined, `${id} is never seen to fail`);
    assert.equal(judge(broken).outcome, 'fail', judge(broken).evidence);
  });
}
