// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '../../src/cel/compile.ts';
import { SELF_ONCE } from '../../src/cel/environments.ts';
import { ERRORS, TRUE } from '../support/cel-rows.ts';
import { request } from './request.ts';

/** Evaluates on `self` and a request of no names. */
function evaluate(source: string, self = ''): boolean {
  const compiled = compileExpression({
    source,
    where: 'here',
    environment: SELF_ONCE,
    result: 'bool',
  });
  return compiled.evaluate({ ...request({}), self });
}

for (const source of TRUE) {
  test(`true, as in Kubernetes: ${source}`, () => assert.equal(evaluate(source), true));
}

for (const source of ERRORS) {
  test(`an error, as in Kubernetes: ${source}`, () => {
    assert.throws(() => evaluate(source), { code: 'CEL_EVALUATION' });
  });
}

test('a URL is one only where every reader reads it alike, which Kubernetes does not ask', () => {
  for (const text of ['https://a\\b', 'https://a]b/', 'https://a/é']) {
    assert.equal(evaluate('isURL(self)', text), false);
  }
});

test('what would be written by the rules of a language is not written', () => {
  for (const source of ["'%f'.format([1.5])", "'%e'.format([1.5])", "'%s'.format([1.5])"]) {
    assert.throws(() => evaluate(`${source} == ''`), { code: 'CEL_EVALUATION' });
  }
});

test('a pattern that stalls the library ends at once', () => {
  assert.equal(evaluate("self.matches('(a+)+$')", `${'a'.repeat(250)}!`), false);
});

test('a function that shadows the library is named as the user wrote it', () => {
  assert.throws(() => evaluate("'a'.lowerAscii(1) == 'a'"), {
    code: 'CEL_INVALID',
    message: /'string\.lowerAscii\(int\)'/,
  });
  assert.throws(() => evaluate('int(1.5) == 1'), {
    code: 'CEL_INVALID',
    message: /'int\(double\)'/,
  });
});
