// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { compileExpression } from '#cel/compile.ts';
import { selfOf } from '#cel/environments.ts';
import { indexIn } from '#cel/functions/search.ts';
import { STRINGS } from '#cel/functions/strings.ts';
import { URLS } from '#cel/functions/url.ts';
import { ERRORS, TRUE } from '../support/cel/expressions.ts';
import { request } from './request.ts';

/** Evaluates on `self` and a request of no names. */
function evaluate(source: string, self = ''): boolean {
  const compiled = compileExpression({
    source,
    where: 'here',
    environment: selfOf('commonName'),
    result: 'bool',
  });
  return compiled.evaluate({ ...request({}), self });
}

for (const source of TRUE) {
  test(`true as in Kubernetes: ${source}`, () => assert.equal(evaluate(source), true));
}

for (const source of ERRORS) {
  test(`an error as in Kubernetes: ${source}`, () => {
    assert.throws(() => evaluate(source), { code: 'CEL_EVALUATION' });
  });
}

test('isURL accepts only what all parsers read alike; Kubernetes is less strict', () => {
  for (const text of ['https://a\\b', 'https://a]b/', 'https://a/é']) {
    assert.equal(evaluate('isURL(self)', text), false);
  }
});

test('formatting that depends on a locale is an error', () => {
  for (const source of ["'%f'.format([1.5])", "'%e'.format([1.5])", "'%s'.format([1.5])"]) {
    assert.throws(() => evaluate(`${source} == ''`), { code: 'CEL_EVALUATION' });
  }
});

test('a pattern that stalls a backtracking engine ends at once', () => {
  assert.equal(evaluate("self.matches('(a+)+$')", `${'a'.repeat(250)}!`), false);
});

test('an error names a replaced library function as the user wrote it', () => {
  assert.throws(() => evaluate("'a'.lowerAscii(1) == 'a'"), {
    code: 'CEL_INVALID',
    message: /'string\.lowerAscii\(int\)'/,
  });
  assert.throws(() => evaluate('int(1.5) == 1'), {
    code: 'CEL_INVALID',
    message: /'int\(double\)'/,
  });
});

test('indexOf finds the first occurrence', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 });
  const part = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 });
  fc.assert(
    fc.property(text, part, fc.nat(150), (before, looked, cut) => {
      for (const wanted of [looked, before.slice(cut), `${before.slice(cut)}a`, before.repeat(2)]) {
        assert.equal(indexIn(before, wanted), before.indexOf(wanted));
      }
    }),
    { seed: 4 },
  );
});

test('a position counts code points, as a list of them does, lone surrogates too', () => {
  const unit = fc.constantFrom('a', 'é', '\u{1f600}', '\ud83d', '\ude00');
  const handler = (name: string): ((...args: unknown[]) => unknown) =>
    STRINGS.find((each) => each.name === name)?.signatures.at(-1)?.handler as never;
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), fc.nat(13), fc.nat(13), (text, from, to) => {
      const list = Array.from(text);
      if (from > to || to > list.length) {
        assert.throws(() => handler('substring')(text, BigInt(from), BigInt(to)), RangeError);
        return;
      }
      const part = list.slice(from, to).join('');
      assert.equal(handler('substring')(text, BigInt(from), BigInt(to)), part);
      assert.equal(handler('charAt')(text, BigInt(from)), list[from] ?? '');
      const at = text.indexOf(part);
      assert.equal(handler('indexOf')(text, part), BigInt(Array.from(text.slice(0, at)).length));
    }),
    { seed: 5 },
  );
});

test('a search in periodic text looks at each character a few times only', () => {
  const looks = mock.method(String.prototype, 'charCodeAt');
  const [text, part] = ['ab'.repeat(4_000), `${'ab'.repeat(1_500)}b${'ab'.repeat(500)}`];
  const found = indexIn(text, part);
  const count = looks.mock.callCount();
  looks.mock.restore();
  assert.equal(found, -1);
  assert.ok(count > 0 && count < 8 * (text.length + part.length), `${count} looks`);
});

test('parsing a query does not copy earlier parameters', () => {
  const handler = (name: string): ((of: unknown) => unknown) => {
    const signature = URLS.find((each) => each.name === name)?.signatures[0];
    assert.ok(signature);
    return signature.handler as (of: unknown) => unknown;
  };
  const url = handler('url')(`http://h/?${'a&'.repeat(5_000)}`);
  const kept = mock.method(Map.prototype, 'set');
  const query = handler('getQuery')(url) as ReadonlyMap<string, readonly string[]>;
  const copied = kept.mock.calls.map((call) => (call.arguments[1] as readonly string[]).length);
  kept.mock.restore();
  assert.equal(query.get('a')?.length, 5_000);
  assert.ok(copied.reduce((sum, each) => sum + each, 0) <= 10_000);
});

test('leading zeros of a quantity are ignored, however many there are', () => {
  const zeros = '0'.repeat(190);
  for (const [text, is] of [
    [`${zeros}1`, true],
    [`-${zeros}1.5Ki`, true],
    [`${zeros}${'9'.repeat(64)}`, true],
    [`${zeros}${'9'.repeat(65)}`, false],
    [`${zeros}!`, false],
    ['', false],
  ] as const) {
    assert.equal(evaluate('isQuantity(self)', text), is, text.slice(-70));
  }
  assert.equal(evaluate("quantity(self).compareTo(quantity('1')) == 0", `${zeros}1`), true);
});
