// SPDX-License-Identifier: Apache-2.0
/** The extensions of anchors: what RFC 5280 demands, and what it advises. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CTB_CASES } from '#conformance/ctb/cases.ts';
import { keyUsage } from '#pki/extensions/encode-extensions.ts';
import { bundle, goodCtbSnapshot } from '../support/conformance/ctb-snapshot.ts';
import { authority, instead, without } from '../support/conformance/leaf.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const withKeyUsage = (critical: boolean): string =>
  authority('Root', 'root', instead({ ...keyUsage(['keyCertSign']), critical })).pem;
const resultFor = (id: string, pem: string): string =>
  resultOf(CTB_CASES, id, goodCtbSnapshot({ bundles: [bundle(pem)] })).outcome;

test('an anchor whose keyUsage is not critical breaks a SHOULD (RFC 5280 §4.2.1.3)', () => {
  assert.equal(resultFor('CTB-09', withKeyUsage(false)), 'pass');
  const found = CTB_CASES.find(({ id }) => id === 'CTB-53');
  assert.equal(found?.level, 'should');
  assert.equal(resultFor('CTB-53', withKeyUsage(false)), 'fail');
  assert.equal(resultFor('CTB-53', withKeyUsage(true)), 'pass');
});

test('an anchor without keyCertSign breaks a MUST', () => {
  assert.equal(resultFor('CTB-09', authority('Root', 'root', without('2.5.29.15')).pem), 'fail');
});
