// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '#conformance/case.ts';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import { CSR_BROKEN } from '../support/conformance/csr-broken.ts';
import { goodCsrSnapshot, withScenario } from '../support/conformance/csr-snapshot.ts';
import { pending } from '../support/conformance/observed-requests.ts';

test('a conforming signer passes every case', () => {
  const wrong = evaluateAll(CSR_CASES, goodCsrSnapshot()).filter(
    ({ outcome }) => outcome !== 'pass',
  );
  assert.deepEqual(wrong, []);
});

for (const { id, asserts, evaluate: judge } of CSR_CASES) {
  test(`${id} fails for a signer that breaks it: ${asserts}`, () => {
    const broken = CSR_BROKEN[id];
    assert.ok(broken !== undefined, `${id} is never seen to fail`);
    assert.equal(judge(broken).outcome, 'fail', judge(broken).evidence);
  });
}

test('without an approver no case fails', () => {
  const { scenarios: scenarios } = goodCsrSnapshot();
  const idle = Object.fromEntries(Object.keys(scenarios).map((name) => [name, pending()]));
  const snapshot = {
    ...goodCsrSnapshot(),
    scenarios: idle as typeof scenarios,
    burst: [pending(), pending()],
  };
  const failed = evaluateAll(CSR_CASES, snapshot).filter(
    ({ id, outcome }) => outcome === 'fail' && Number(id.slice(4)) < 64,
  );
  assert.deepEqual(failed, []);
});

test('a scenario that could not be created is skipped with the reason', () => {
  const snapshot = withScenario('plain', { skipped: 'no right to create' });
  const results = evaluateAll(CSR_CASES, snapshot).filter(
    ({ evidence }) => evidence === 'no right to create',
  );
  assert.ok(results.length > 10);
  assert.ok(results.every(({ outcome }) => outcome === 'skip'));
});
