// SPDX-License-Identifier: Apache-2.0
/** A run of `make verify` on a machine that is made up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from './due.ts';
import type { Rows } from './page.ts';
import type { Outcome } from './report.ts';
import type { Suite } from './suites.ts';
import { verify, type Ports } from './verify.ts';

const SUITES: readonly Suite[] = [
  { target: 'test-one' },
  { target: 'test-two' },
  { target: 'test-three', takes: ['fish', 'sh'] },
];
const GREEN: Outcome = { exitCode: 0, output: 'ℹ tests 3\n', hasTests: true };
const RED: Outcome = { exitCode: 1, output: 'ℹ tests 3\nℹ fail 1\n', hasTests: true };

interface Machine extends Ports {
  readonly ran: string[];
  readonly printed: string[];
  /** The results on the page, as it was written each time. */
  readonly kept: string[][];
}

function machine(outcomes: Readonly<Record<string, Outcome | undefined>>): Machine {
  const [ran, printed, kept]: [string[], string[], string[][]] = [[], [], []];
  return {
    ran,
    printed,
    kept,
    run: ({ target }) => {
      ran.push(target);
      return Promise.resolve(outcomes[target]);
    },
    head: () => 'c0ffee',
    isInstalled: (program) => program === 'sh',
    now: () => ran.length * 61_000,
    cores: 2,
    keep: (rows: Rows) => {
      kept.push([...rows.values()].map(({ target, result }) => `${target}: ${result}`));
      return Promise.resolve();
    },
    print: (line) => printed.push(line),
  };
}

const question: Question = { suites: SUITES, rows: new Map(), changesOf: () => [] };

test('a red suite does not end the run, and each row is kept at once', async () => {
  const ports = machine({ 'test-one': RED, 'test-two': GREEN });
  assert.equal(await verify(question, ports), false);
  assert.deepEqual(ports.kept, [
    ['test-one: red'],
    ['test-one: red', 'test-two: green'],
    ['test-one: red', 'test-two: green', 'test-three: no fish'],
  ]);
  const [table = '', last] = ports.printed.slice(-2);
  assert.ok(table.includes('| `test-one` | red | 3 | 0 | 1 | 61 | `c0ffee` | 2 |\n'), table);
  assert.equal(last, 'Not green as of c0ffee: test-one, test-three');
});

test('a suite whose program is missing does not run, and its row says so', async () => {
  const ports = machine({});
  await verify({ ...question, only: SUITES.slice(2) }, ports);
  assert.deepEqual(ports.ran, []);
  assert.deepEqual(ports.kept, [['test-three: no fish']]);
});

test('a run that is stopped keeps no row of its suite, and starts no other', async () => {
  const ports = machine({ 'test-one': GREEN });
  assert.equal(await verify(question, ports), false);
  assert.deepEqual(ports.ran, ['test-one', 'test-two']);
  assert.deepEqual(ports.kept, [['test-one: green']]);
});

test('a run continues where the one before it was stopped', async () => {
  const first = machine({ 'test-one': GREEN });
  let rows: Rows = new Map();
  const keep = (all: Rows): Promise<void> => {
    rows = new Map(all);
    return Promise.resolve();
  };
  await verify(question, { ...first, keep });
  const second = machine({ 'test-two': GREEN });
  await verify({ ...question, rows }, second);
  assert.deepEqual(second.ran, ['test-two']);
});

test('a suite that reaches something uncommitted runs, and gets no row', async () => {
  const changesOf = ({ target }: Suite): readonly string[] =>
    target === 'test-one' ? ['src/a.ts'] : [];
  const ports = machine({ 'test-one': GREEN, 'test-two': GREEN });
  assert.equal(await verify({ ...question, changesOf, only: SUITES.slice(0, 2) }, ports), false);
  assert.deepEqual(ports.ran, ['test-one', 'test-two']);
  assert.deepEqual(ports.kept, [['test-two: green']]);
  assert.ok(
    ports.printed.includes('   not recorded as of c0ffee: src/a.ts not as committed'),
    ports.printed.join('\n'),
  );
  assert.equal(ports.printed.at(-1), 'Not green as of c0ffee: test-one');
});

test('a change while a suite runs keeps it from a row', async () => {
  const ports = machine({ 'test-one': GREEN });
  const changesOf = (): readonly string[] => (ports.ran.length > 0 ? ['src/a.ts'] : []);
  await verify({ ...question, changesOf, only: SUITES.slice(0, 1) }, ports);
  assert.deepEqual([ports.ran, ports.kept], [['test-one'], []]);
});

test('a run in which all are green ends well, without those that are on request', async () => {
  const suites = [{ target: 'test-one' }, { target: 'test-million', isOnRequest: true as const }];
  const ports = machine({ 'test-one': GREEN });
  assert.equal(await verify({ ...question, suites }, ports), true);
  assert.deepEqual(ports.ran, ['test-one']);
});
