// SPDX-License-Identifier: Apache-2.0
/** `make verify` leaves no suite out in silence, and its page has a row for each. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandsOf, pathsIn, readMakefile } from '../verify/makefile.ts';
import { PAGE, parsePage, renderPage } from '../verify/page.ts';
import { SUITES, rootsOf } from '../verify/suites.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const makefile = readMakefile(read('Makefile'));
const targets = [...makefile.rules.keys()];

/** Targets `test-*` that are no suite of `make verify`, each with its reason. */
const ABSENT: Readonly<Record<string, string>> = {};

/** Returns the targets `test-*` that neither `rows` nor `reasons` know. */
function unverified(
  all: readonly string[],
  rows: readonly string[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] {
  const known = [...rows, ...Object.keys(reasons)];
  return all.filter((target) => target.startsWith('test-') && !known.includes(target));
}

test('each target test-* is a suite of make verify, or its absence has a reason', () => {
  const rows = SUITES.map(({ target }) => target);
  assert.ok(targets.filter((target) => target.startsWith('test-')).length > 35);
  assert.deepEqual(unverified(targets, rows, ABSENT), []);
  assert.deepEqual(unverified(['test-a', 'test-b', 'bench'], ['test-a'], {}), ['test-b']);
});

test('each suite of make verify is a target, once, that names files to run', () => {
  const names = SUITES.map(({ target }) => target);
  assert.deepEqual(names, [...new Set(names)]);
  for (const suite of SUITES) {
    assert.ok(targets.includes(suite.target), suite.target);
    assert.notDeepEqual(pathsIn(commandsOf(makefile, suite.target)), [], suite.target);
  }
});

test('a suite that starts the bundle reaches all of src', () => {
  const roots = (target: string): readonly string[] =>
    rootsOf(SUITES.find((suite) => suite.target === target) ?? assert.fail(target), makefile);
  assert.ok(roots('test-acme').includes('src'));
  assert.ok(!roots('test-spiffe').includes('src'));
});

test(`${PAGE} is what make verify writes, with a row for each suite`, async () => {
  const page = read(PAGE);
  assert.equal(page, await renderPage(SUITES, parsePage(page)), 'run make verified-docs');
});

test('docs/reference/suites.md has a row for each suite, and only for targets', () => {
  const rows = [...read('docs/reference/suites.md').matchAll(/^\| `(?<target>[\w.-]+)` /gm)];
  const named = rows.map(({ groups }) => groups?.['target'] ?? '');
  assert.deepEqual(
    SUITES.map(({ target }) => target).filter((target) => !named.includes(target)),
    [],
  );
  assert.deepEqual(
    named.filter((target) => !targets.includes(target)),
    [],
  );
});
