// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '#conformance/case.ts';
import { hasValidSelfSignature } from '#conformance/ctb/assertions.ts';
import { CTB_CASES } from '#conformance/ctb/cases.ts';
import { CTB_BROKEN } from '../support/conformance/ctb-broken.ts';
import { goodCtbSnapshot } from '../support/conformance/ctb-snapshot.ts';
import { NOW, ca, keyIds, link, usage } from '../support/pki/chain.ts';
import { oid, seq } from '../support/pki/der.ts';

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

test('two bundles of a signer may have one anchor', () => {
  const { bundles } = goodCtbSnapshot();
  assert.ok(!('skipped' in bundles));
  const [first] = bundles;
  assert.ok(first !== undefined);
  const canary = { ...first, name: `${first.name}-canary` };
  const found = evaluateAll(CTB_CASES, goodCtbSnapshot({ bundles: [first, canary] }));
  assert.equal(found.find(({ id }) => id === 'CTB-06')?.outcome, 'pass');
});

test('a root signed by SHA-1 conforms: OpenSSL and Go accept it as an anchor', () => {
  const algorithm = seq(oid('1.2.840.10045.4.1')); // ecdsa-with-SHA1 (RFC 3279 §2.2.3)
  const old = link('old root', { algorithm, extensions: [ca(), usage(), ...keyIds('old root')] });
  assert.equal(hasValidSelfSignature(old.certificate, NOW), undefined);
});
