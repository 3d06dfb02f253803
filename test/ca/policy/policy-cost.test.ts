// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestRule } from '#api/signer/cluster-signer.ts';
import { MAX_COST } from '#cel/compile.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { specOf } from './request.ts';

/** Most that the expressions of one part of a spec may cost together (src/cel/README.md). */
const MAX_BUDGET = 5 * MAX_COST;

/** Dear alone, and yet within the limit. */
const DEAR = "csr.uris.all(u, u.matches('^spiffe://a[.]b/[a-z]+$'))";

const rules = (count: number): readonly RequestRule[] =>
  Array.from({ length: count }, (_value, index) => ({
    name: `rule-${index}`,
    when: index === 3 ? `${DEAR} && ${DEAR}` : DEAR,
    allow: {},
  }));

test('rules that exceed the cost limit together are refused, naming the costliest', () => {
  const policy = compilePolicy(specOf({ copy: [], rules: rules(4) }));
  const each = policy.rules[0]?.when.cost ?? NaN;
  assert.ok(each < MAX_COST / 2 && 4 * each < MAX_BUDGET);
  const count = Math.ceil(MAX_BUDGET / each);
  refuses(
    () => compilePolicy(specOf({ copy: [], rules: rules(count) })),
    'CEL_COST',
    /^spec\.requests: .*worst-case cost of all its expressions is \d+, more than the limit.* simplify spec\.requests\.rules\[3\]\.when first/,
    'wait',
  );
});

/** Nothing to run, for the text is empty; yet each is an automaton of its own to be made. */
const dear = (index: number): string => `''.matches('^\\\\pL{50}${index}')`;

test('patterns too expensive to compile are refused without compiling later rules', () => {
  const many = Array.from({ length: 32 }, (_value, index) => ({
    name: `rule-${index}`,
    when: `${dear(2 * index)} && ${dear(2 * index + 1)}`,
    allow: {},
  }));
  const unread = { name: 'unread', when: 'this is no CEL', allow: {} };
  refuses(
    () => compilePolicy(specOf({ copy: [], rules: [...many, unread] })),
    'CEL_COST',
    /^spec\.requests: the patterns up to spec\.requests\.rules\[\d+\]\.when exceed the compile limit/,
    'wait',
  );
});

test('patterns of one expression that are too expensive to compile are refused', () => {
  const when = Array.from({ length: 60 }, (_value, index) => dear(index)).join(' && ');
  refuses(
    () => compilePolicy(specOf({ copy: [], rules: [{ name: 'one', when, allow: {} }] })),
    'CEL_INVALID',
    /^spec\.requests\.rules\[0\]\.when: line 1, column \d+: the patterns up to .* exceed the compile limit/,
    'wait',
  );
});
