// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueSuites, type ChangesOf, type Question } from './due.ts';
import type { Row } from './page.ts';
import { suitesNamed, type Suite } from './suites.ts';

const SUITES: readonly Suite[] = [
  { target: 'test-acme' },
  { target: 'test-ledger' },
  { target: 'test-ledger-million', isOnRequest: true },
  { target: 'demo' },
];
const UNCHANGED: ChangesOf = () => [];

function row(target: string, result = 'green'): [string, Row] {
  return [
    target,
    { target, result, tests: 1, skipped: 0, red: 0, seconds: 1, commit: 'c0ffee', cores: 2 },
  ];
}

const GREEN = new Map([row('test-acme'), row('test-ledger'), row('demo')]);

function due(question: Partial<Question>): readonly string[] {
  const all = { suites: SUITES, rows: GREEN, changesOf: UNCHANGED, ...question };
  return dueSuites(all).map(({ suite, reason }) => `${suite.target}: ${reason}`);
}

test('a suite without a row is due, and one that is on request is not', () => {
  assert.deepEqual(due({ rows: new Map([row('demo')]) }), [
    'test-acme: has no row',
    'test-ledger: has no row',
  ]);
});

test('an earlier green row counts while nothing changes that its suite reaches', () => {
  assert.deepEqual(due({}), []);
  const changesOf: ChangesOf = ({ target }, commit) =>
    target === 'test-acme' && commit === 'c0ffee' ? ['src/a.ts', 'src/b.ts'] : [];
  assert.deepEqual(due({ changesOf }), ['test-acme: src/a.ts and 1 more changed']);
});

test('a row of a commit that this clone lacks does not count', () => {
  const changesOf: ChangesOf = () => undefined;
  assert.equal(due({ changesOf }).length, 3);
});

test('a row that is not green is due again', () => {
  const rows = new Map([
    row('test-acme', 'red'),
    row('test-ledger', 'nothing ran'),
    row('demo', 'no zsh'),
  ]);
  assert.deepEqual(due({ rows }), [
    'test-acme: its row says: red',
    'test-ledger: its row says: nothing ran',
    'demo: its row says: no zsh',
  ]);
});

test('ONLY runs the suites that it names, green ones and those on request too', () => {
  const only = suitesNamed('acme,ledger-million', SUITES);
  assert.deepEqual(due({ only }), [
    'test-acme: named by ONLY',
    'test-ledger-million: named by ONLY',
  ]);
});

test('ONLY takes the name of a target too, and refuses a name that is no suite', () => {
  assert.deepEqual(suitesNamed('demo,test-acme', SUITES), [
    { target: 'test-acme' },
    { target: 'demo' },
  ]);
  assert.throws(() => suitesNamed('acme,acne', SUITES), /no suite is called acne; want some of/);
});

test('SINCE runs the suites that reach what changed since its commit, and no other', () => {
  const changesOf: ChangesOf = ({ target }, commit) =>
    commit === 'HEAD~3' && target === 'demo' ? ['demo/main.ts'] : [];
  assert.deepEqual(due({ changesOf, since: 'HEAD~3', rows: new Map() }), [
    'demo: demo/main.ts changed',
  ]);
});
