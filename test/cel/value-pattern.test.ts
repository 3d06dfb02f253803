// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileValuePattern } from '#cel/pattern/value-pattern.ts';
import { PatternSet, compileRegex } from '#cel/pattern/regex.ts';

test('a pattern matches the whole value, including line breaks', () => {
  const role = compileValuePattern('[a-z0-9-]{1,32}', 'spec.pods.annotations[0].pattern');
  assert.equal(role('reader'), true);
  for (const value of ['', 'Reader', 'reader\n', 'a reader', 'reader;admin', 'x'.repeat(33)]) {
    assert.equal(role(value), false, JSON.stringify(value));
  }
});

test('a value above the length limit for annotations does not match', () => {
  const any = compileValuePattern('x*', 'here');
  assert.deepEqual([any('x'.repeat(4_096)), any('x'.repeat(4_097))], [true, false]);
});

test('an alternation is anchored as a whole', () => {
  const either = compileValuePattern('a|b', 'here');
  assert.equal(either('b'), true);
  assert.equal(either('ax'), false);
  assert.equal(either('xb'), false);
});

test('a pattern that RE2 does not support is refused, and the error names the field', () => {
  for (const pattern of ['(?=a)a', '(a)\\1', '(?<!x)y', '[a-', 'a**']) {
    assert.throws(() => compileValuePattern(pattern, 'spec.pods.annotations[2].pattern'), {
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: /^spec\.pods\.annotations\[2\]\.pattern: cannot use the RE2 pattern ".*": /,
    });
  }
});

test('a pattern that compiles to a very large program is refused', () => {
  for (const pattern of ['((a{1,100}){1,10}){1,10}', 'a{600}a{600}']) {
    assert.throws(() => compileValuePattern(pattern, 'here'), {
      code: 'SPEC_INVALID',
      message: /compiles to 1\d{3} instructions|invalid repeat count|expression too large/i,
    });
  }
});

test('a pattern that stalls a backtracking engine ends', () => {
  const evil = compileValuePattern('(a+)+$', 'here');
  // A backtracking engine would take 2⁴⁰⁰⁰⁰ steps: that it ends is the law.
  assert.equal(evil(`${'a'.repeat(40_000)}!`), false);
});

/**
 * What texts can lead to are 2²⁰ states and more: each character of a hostile one makes another.
 */
const EXPLODING = [
  '[ab]*a[ab]{300}',
  '[ab]*a[ab]{20}[^ab]',
  '(?:.*a.{200}){2}',
  '[a-z]*a[a-z]{9}[a-z]*b[a-z]{20}[A-Z]',
  '(?:a?){300}a{300}',
];

for (const pattern of EXPLODING) {
  test(`a pattern with too many states is refused: ${pattern}`, () => {
    assert.throws(() => compileValuePattern(pattern, 'here'), {
      code: 'SPEC_INVALID',
      message:
        /its automaton has too many states; start it with \^, or use fewer and smaller repetitions$/,
    });
  });
}

const ORDINARY = [
  '.*',
  '[a-z0-9-]{1,32}',
  '.+@example[.]com',
  '[\\p{L}\\p{N} ._-]{1,64}',
  '(?i)team-[a-z]{3,20}',
  '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]{2,63}',
  'arn:aws:iam::[0-9]{12}:role/[\\w+=,.@-]{1,64}',
  'foo.{0,50}bar',
  'spiffe://example[.]com/ns/[a-z0-9-]{1,63}/sa/[a-z0-9-]{1,253}',
];

for (const pattern of ORDINARY) {
  test(`an ordinary pattern is within the state limit: ${pattern}`, () => {
    assert.equal(compileValuePattern(pattern, 'here')('\n'), false);
  });
}

test('a pattern in use stays compiled, however many others are compiled', () => {
  const mine = compileRegex('^mine$', 'part');
  for (let other = 0; other < 3_000; other += 1) compileRegex(`^other${other}$`, 'place');
  assert.equal(compileRegex('^mine$', 'part'), mine);
});

test('patterns within the limit one by one are refused if they exceed it together', () => {
  const together = new PatternSet();
  assert.throws(
    () => {
      for (let one = 0; one < 32; one += 1) compileValuePattern(`\\pL{70}${one}`, 'here', together);
    },
    { code: 'SPEC_INVALID', message: /the patterns up to this one exceed the compile limit/ },
  );
});
