// SPDX-License-Identifier: Apache-2.0
/** Expressions and patterns that were made to take much longer than their price says. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { RE2JS } from 're2js';
import { MAX_COST, compileExpression, type CompiledExpression } from '#cel/compile.ts';
import { costOf } from '#cel/cost/cost.ts';
import { REQUEST } from '#cel/environments.ts';
import { POD } from '../support/cel/pod-environment.ts';
import { libraryOf } from '#cel/library.ts';
import { tryRegex } from '#cel/pattern/regex.ts';

function refusalOf(pattern: string, question: 'part' | 'whole'): string {
  const made = tryRegex(pattern, question);
  return typeof made === 'string' ? made : 'none';
}

/** How often the library compiles a pattern meanwhile, which is what takes long. */
function compilations(t: TestContext, action: () => unknown): number {
  const compile = t.mock.method(RE2JS, 'compile');
  try {
    action();
    return compile.mock.callCount();
  } finally {
    compile.mock.restore();
  }
}

function compile(source: string): CompiledExpression<boolean> {
  return compileExpression({ source, where: 'spec.here', environment: POD, result: 'bool' });
}

const HUNDRED = `[${Array.from({ length: 100 }, () => '1').join(',')}]`;

/** Each round of the inner loop throws an error, which the outer one or the `||` absorbs. */
const ABSORBED = [
  '1 / 0 == 0',
  '1 % 0 == 0',
  '[1][7] == 1',
  "int('x') == 1",
  "ip('x').family() == 4",
  "pod.annotations['none'] == ''",
  "url('::').getHost() == ''",
  '9223372036854775807 + 1 == 0',
  '(1 / 0 == 0 || 1 / 0 == 0)',
  "'a'.substring(9) == ''",
];

for (const body of ABSORBED) {
  test(`a loop pays for the errors that it absorbs: ${body}`, () => {
    const source = `${HUNDRED}.exists(a, ${HUNDRED}.exists(b, ${body})) || true`;
    assert.throws(() => compile(source), { code: 'CEL_COST', disposition: 'wait' });
  });
}

test('an error costs more in a long expression, whose line the library looks for', () => {
  const cost = (source: string): number => {
    const parsed = libraryOf(REQUEST).parse(source);
    assert.equal(parsed.check().valid, true);
    return costOf(parsed.ast, REQUEST);
  };
  const source = 'request.groups.exists(g, 1 / 0 == 0)';
  assert.ok(cost(`${source}${' '.repeat(1_500)}`) > cost(source) + 1_000 * 200);
});

test('errors that are absorbed within the limit are evaluated', () => {
  const rounds = `[${Array.from({ length: 60 }, () => '1').join(',')}]`;
  const expression = compile(`${rounds}.exists(a, ${rounds}.exists(b, 1 / 0 == 0)) || true`);
  assert.ok(expression.cost <= MAX_COST);
  const pod = { namespace: '', name: '', uid: '', serviceAccount: '', serviceAccountUID: '' };
  const variables = { pod: { ...pod, node: '', nodeUID: '', annotations: {} } };
  assert.equal(expression.evaluate(variables), true);
});

test('evaluation leaves the stacks of other errors alone', () => {
  const before = Error.stackTraceLimit;
  const expression = compile("pod.annotations['none'] == ''");
  assert.throws(() => expression.evaluate({}), { code: 'CEL_EVALUATION' });
  assert.equal(Error.stackTraceLimit, before);
});

/** RE2 has 2¹⁰⁰ states of these: an assertion that never holds tells them apart. */
const ASSERTING = [
  ['(?:a|b\\b\\B)[ab]{100}[cd]', 'part'],
  ['.*(?:a|b\\b\\B)[ab]{130}[cd]', 'whole'],
  ['.*(?:a|b\\B\\b)[ab]{130}[cd]', 'whole'],
  ['.*(?:a|b$)[ab]{130}[cd]', 'whole'],
  ['(?m)(?:a|b^)[ab]{100}[cd]', 'part'],
  ['(?m)(?:a|b$)[ab]{100}[cd]', 'part'],
  ['(?:a|bx?\\A)[ab]{100}[cd]', 'part'],
] as const;

for (const [pattern, question] of ASSERTING) {
  test(`an assertion does not hide the states of a pattern: ${pattern}`, () => {
    assert.match(refusalOf(pattern, question), /its automaton has too many states/);
  });
}

const BOUNDED = ['\\bteam-[a-z]{3,20}\\b', '(?m)^[a-z]{1,20}$', '^a\\Bb$', '(?i)^k\\b'];

for (const pattern of BOUNDED) {
  test(`an assertion alone is no reason to refuse a pattern: ${pattern}`, () => {
    assert.equal(typeof tryRegex(pattern, 'part'), 'object');
  });
}

test('a pattern whose states are large is refused, and its refusal is kept', (t) => {
  const pattern = '^(?:.?){200}$';
  let refusal = '';
  const first = compilations(t, () => (refusal = refusalOf(pattern, 'part')));
  assert.match(refusal, /its automaton has too many states/);
  assert.equal(first, 1);
  const again = compilations(t, () => {
    for (let time = 0; time < 100; time += 1) tryRegex(pattern, 'part');
  });
  assert.equal(again, 0);
});

/** RE2 looks up the cases of each character of a range, which takes 4 ms for each of these. */
const FOLDED = [
  `(?i)${'[b-\\x{1E942}]'.repeat(30)}`,
  `(?i)[${'b-\\x{1E942}'.repeat(30)}]`,
  `(?i:[${'b-\u{1E942}'.repeat(30)}])`,
  `(?s-m)(?im)[${'\\x62-\\x{1E942}'.repeat(30)}]`,
  `[${'\\pL'.repeat(160)}]`,
];

for (const pattern of FOLDED) {
  test(`refuses slow classes before reading them: ${pattern.slice(0, 40)}`, (t) => {
    const compiled = compilations(t, () => {
      assert.match(refusalOf(pattern, 'whole'), /its character classes are too large/);
    });
    assert.equal(compiled, 0);
  });
}

test('usual classes are no reason to refuse a pattern, whatever the case', () => {
  for (const pattern of ['(?i)^[a-z0-9-]{1,63}$', '(?i)[\\x{e0}-\\x{ff}]+', '^\\pL+\\p{Nd}$']) {
    assert.equal(typeof tryRegex(pattern, 'whole'), 'object');
  }
});

/** The library keeps each type that it has seen indefinitely. */
const DEEP = [
  'size([[[[[1]]]]]) > 0',
  "size([{'a': [{'a': [1]}]}]) > 0",
  '[1].map(a, [a]).map(b, [b]).map(c, [c]).map(d, [d]).size() > 0',
  '[1].map(a, [2].map(b, [3].map(c, [4].map(d, [5])))).size() > 0',
  "[[pod.annotations]].map(a, {'k': a}).size() > 0",
  "size([[[[['a' + 1]]]]]) > 0",
];

for (const source of DEEP) {
  test(`an expression cannot make new types without end: ${source}`, () => {
    assert.throws(() => compile(source), {
      code: 'CEL_INVALID',
      message: /nested more than 4 levels/,
    });
  });
}

test('usual lists are not nested too deep', () => {
  compile(
    "[pod.name, 'a'].map(n, [n, n]).all(pair, pair.all(n, n.split('-').map(p, p).size() > 0))",
  );
  compile("{'a': ['b', 'c']}['a'].filter(n, n in ['a']).map(n, n + 'x').map(n, n).size() > 0");
});
