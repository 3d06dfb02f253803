// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from '../../src/cel/pattern.ts';

test('a pattern covers the whole value, line breaks and all', () => {
  const role = compilePattern('[a-z0-9-]{1,32}', 'spec.pods.annotations[0].pattern');
  assert.equal(role('reader'), true);
  for (const value of ['', 'Reader', 'reader\n', 'a reader', 'reader;admin', 'x'.repeat(33)]) {
    assert.equal(role(value), false, JSON.stringify(value));
  }
});

test('a value longer than an annotation that expressions see matches nothing', () => {
  const any = compilePattern('x*', 'here');
  assert.deepEqual([any('x'.repeat(4_096)), any('x'.repeat(4_097))], [true, false]);
});

test('an alternative does not escape the anchors', () => {
  const either = compilePattern('a|b', 'here');
  assert.equal(either('b'), true);
  assert.equal(either('ax'), false);
  assert.equal(either('xb'), false);
});

test('what RE2 cannot run in linear time is refused, and the message names the field', () => {
  for (const pattern of ['(?=a)a', '(a)\\1', '(?<!x)y', '[a-', 'a**']) {
    assert.throws(() => compilePattern(pattern, 'spec.pods.annotations[2].pattern'), {
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: /^spec\.pods\.annotations\[2\]\.pattern: .* is not an RE2 expression: /,
    });
  }
});

test('a pattern that unrolls into a huge program is refused', () => {
  assert.throws(() => compilePattern('((a{1,100}){1,10}){1,10}', 'here'), { code: 'SPEC_INVALID' });
});

test('a pattern that stalls backtracking engines ends', () => {
  const evil = compilePattern('(a+)+$', 'here');
  // A backtracking engine would take 2⁴⁰⁰⁰⁰ steps: that it ends is the law.
  assert.equal(evil(`${'a'.repeat(40_000)}!`), false);
});
