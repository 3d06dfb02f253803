// SPDX-License-Identifier: Apache-2.0
/**
 * Prices that a search for slow expressions found too low, as numbers: measured on texts as long as
 * they may be.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '#cel/compile.ts';
import { createBudget } from '#cel/cost/budget.ts';
import { costOf } from '#cel/cost/cost.ts';
import { list, text } from '#cel/cost/shape.ts';
import { REQUEST } from '#cel/environments.ts';
import { libraryOf } from '#cel/library.ts';
import { MAX_WORK } from '#cel/pattern/automaton.ts';
import { classWork } from '#cel/pattern/class-work.ts';
import { compileRegex } from '#cel/pattern/regex.ts';

/** The cost on a text and on items of this many characters. */
function cost(source: string, size: number): number {
  const environment = { runs: 1, variables: { self: text(size), xs: list(1_000, text(size)) } };
  const parsed = libraryOf(environment).parse(source);
  assert.equal(parsed.check().valid, true, source);
  return costOf(parsed.ast, environment);
}

/** The cost on the largest request. */
function requestCost(source: string): number {
  return compileExpression({ source, where: 'here', environment: REQUEST, result: 'bool' }).cost;
}

test('a matcher is made for each text, however short: 1 µs, fifty nodes', () => {
  for (const source of ["self.find('a') == ''", "self.findAll('a').size() == 0"]) {
    assert.ok(cost(source, 0) >= 50, source);
  }
  assert.ok(cost("xs.all(x, x.find('a') == '')", 0) >= 50 * 1_000);
});

test('a match costs 0.2 µs on each text, however short: ten nodes', () => {
  assert.ok(cost("xs.all(x, 'a'.matches('b'))", 0) - cost("xs.all(x, 'a' == 'b')", 0) >= 10_000);
});

test('a character that becomes an item or a match of its own costs 40 ns, two nodes', () => {
  const each = (source: string): number => (cost(source, 2_000) - cost(source, 1_000)) / 1_000;
  for (const call of ["split('').size() == 0", "replace('', 'b') == ''", "substring(0) == ''"]) {
    assert.ok(each(`self.${call}`) >= 2, call);
  }
  for (const call of ["lowerAscii() == ''", "upperAscii() == ''", "lastIndexOf('a') == 0"]) {
    assert.ok(each(`self.${call}`) >= 2, call);
  }
});

test('a character that format() may escape costs 200 ns, and a copied item 20 ns', () => {
  // 1,000 groups of 256 characters each would take 56 ms.
  const groups = "'%s'.format([request.groups]) == ''";
  assert.throws(() => requestCost(groups), { code: 'CEL_COST' });
  assert.ok(requestCost("'%s'.format([csr.usages]) == ''") >= 32 * 256 * 10);
  assert.ok(requestCost('(request.groups + request.groups).size() == 0') >= 2_000);
});

test('an end of a text costs 6 ns a character of the shorter text', () => {
  for (const call of ['startsWith', 'endsWith']) {
    const each = (size: number): number => cost(`xs.all(x, x.${call}(self))`, size) / 1_000;
    assert.ok((each(2_000) - each(1_000)) / 1_000 > 0.29, call);
    assert.ok(cost(`self.${call}('ab')`, 2_000) - cost(`self.${call}('ab')`, 1_000) < 1, call);
  }
});

test('two texts are ordered at 10 ns a character', () => {
  for (const order of ['<', '<=', '>', '>=']) {
    assert.ok(cost(`self ${order} self + 'a'`, 1_000) >= 1_000 * 0.5, order);
  }
  assert.ok(cost("self == 'a' + self", 1_000) < 1_000 * 0.5);
});

test('to parse a text takes 2 µs, however short it is', () => {
  for (const call of ['isURL(g)', 'isIP(g)', 'isCIDR(g)', 'isQuantity(g)']) {
    assert.ok(requestCost(`request.groups.exists(g, ${call})`) >= 1_000 * 100, call);
  }
});

test('what it takes to read classes is part of what a pattern costs', () => {
  const narrow = compileRegex('(?i)^[a-c]$', 'place').work;
  const wide = compileRegex('(?i)^[b-\\x{1E942}]$', 'place').work;
  // 4 ms, in instructions of 100 ns.
  assert.ok(wide - narrow >= 30_000, `${wide} ${narrow}`);
  assert.ok(classWork('(?i)[b-\\x{1E942}]'.repeat(1)) >= 30_000);
  assert.ok(classWork('\\pL'.repeat(160)) > MAX_WORK);
  assert.ok(classWork('[[:alpha:]]'.repeat(160)) > MAX_WORK);
  assert.equal(classWork('^[a-z]+$'), 0);
});

test('what RE2 merges to learn that a pattern is one-pass is part of what it costs', () => {
  const run = (count: number): string => {
    const optional = (_: unknown, index: number): string =>
      `${String.fromCodePoint(0x4e00 + 2 * index)}?`;
    return `^${Array.from({ length: count }, optional).join('')}$`;
  };
  // 27 of them take 0.9 ms to compile, a third of it ours; what fails at once costs nothing.
  assert.ok(compileRegex(run(27), 'place').work >= 6_000);
  assert.ok(compileRegex(run(60), 'place').work >= 60_000);
  assert.throws(() => compileRegex(run(250), 'place'), /fewer \? and \*/);
  assert.ok(compileRegex('^(?:.?){200}$', 'place').work < 10_000);
  // Behind each b may come what 1,300 borders of ranges tell.
  assert.ok(compileRegex('^(b{100,200}[^\\pL])$', 'place').work >= 30_000);
  assert.ok(compileRegex('(b{100,200}[^\\pL])$', 'place').work < 10_000);
  // 36 classes of 1,300 borders are read, and none is merged: 3 to 5 ms.
  assert.ok(compileRegex('^(?:\\pL){36}$', 'place').work >= 40_000);
});

test('a decision costs its expressions and the reachable states of its patterns', () => {
  const pattern = compileRegex('^[a-z]{1,20}$', 'part');
  const entry = { where: 'here', cost: 100, patterns: [pattern] };
  const budget = createBudget('spec.requests');
  budget.take(entry);
  assert.equal(budget.worstCase(), 100 + 5 * pattern.work);
  // A pattern that is known costs nothing again.
  budget.take({ ...entry, where: 'there' });
  assert.equal(budget.worstCase(), 200 + 5 * pattern.work);
  const value = compileRegex('[a-z]{1,20}', 'whole');
  budget.annotations.add(value);
  // And 4,096 characters of a value, two nodes each.
  assert.equal(budget.worstCase(), 200 + 5 * (pattern.work + value.work) + 2 * 4_096);
});

test('each character of a class pays for its borders, and for the look-up of its cases', () => {
  const work = (count: number): number => {
    const characters = Array.from({ length: count }, (_, index) => {
      return `\\x{${(0x4e00 + 2 * index).toString(16)}}`;
    });
    return compileRegex(`^[${characters.join('')}]$`, 'whole').work;
  };
  // Two borders of 0.5 µs and two ends of 0.3 µs, in instructions of 100 ns.
  assert.ok(work(60) - work(10) >= 50 * 16);
});
