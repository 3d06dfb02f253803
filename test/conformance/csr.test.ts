// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAll } from '../../src/conformance/case.ts';
import { CSR_CASES } from '../../src/conformance/csr/cases/index.ts';
import { CSR_BROKEN } from '../support/conformance/csr-broken.ts';
import { goodCsrWorld, withScene } from '../support/conformance/csr-snapshot.ts';
import { pending } from '../support/conformance/observed-requests.ts';

test('a signer that does everything right passes every case', () => {
  const wrong = judgeAll(CSR_CASES, goodCsrWorld()).filter(({ outcome }) => outcome !== 'pass');
  assert.deepEqual(wrong, []);
});

for (const { id, asserts, judge } of CSR_CASES) {
  test(`${id} fails where it is not so: ${asserts}`, () => {
    const broken = CSR_BROKEN[id];
    assert.ok(broken !== undefined, `${id} is never seen to fail`);
    assert.equal(judge(broken).outcome, 'fail', judge(broken).evidence);
  });
}

test('without an approver nothing is said against the signer', () => {
  const { scenes } = goodCsrWorld();
  const idle = Object.fromEntries(Object.keys(scenes).map((name) => [name, pending()]));
  const world = { ...goodCsrWorld(), scenes: idle as typeof scenes, burst: [pending(), pending()] };
  const failed = judgeAll(CSR_CASES, world).filter(
    ({ id, outcome }) => outcome === 'fail' && Number(id.slice(4)) < 64,
  );
  assert.deepEqual(failed, []);
});

test('what could not be asked is skipped, with the reason', () => {
  const world = withScene('plain', { skipped: 'no right to create' });
  const results = judgeAll(CSR_CASES, world).filter(
    ({ evidence }) => evidence === 'no right to create',
  );
  assert.ok(results.length > 10);
  assert.ok(results.every(({ outcome }) => outcome === 'skip'));
});
