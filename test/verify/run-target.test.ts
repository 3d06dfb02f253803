// SPDX-License-Identifier: Apache-2.0
/** Suites as `make` really runs them, by a Makefile that is made up. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { verdictOf } from './report.ts';
import { runTarget, type Ended } from './run-target.ts';

const directory = mkdtempSync(join(tmpdir(), 'verify-'));
after(() => rmSync(directory, { recursive: true }));

writeFileSync(
  join(directory, 'Makefile'),
  `
test-half:
	@${process.execPath} --test half.test.mjs
test-skipped:
	@${process.execPath} --test skipped.test.mjs
test-arguments:
	@echo "args=$(ARGS) share=$(SHARE) mode=$(MODE)"
test-endless:
	@echo started
	@exec sleep 600
`,
);
const IMPORT = "import { test } from 'node:test';\n";
writeFileSync(
  join(directory, 'half.test.mjs'),
  `${IMPORT}test('a', () => {});\ntest('b', () => { throw new Error('no'); });\n`,
);
writeFileSync(
  join(directory, 'skipped.test.mjs'),
  `${IMPORT}test('a', { skip: 'no program' }, () => {});\n`,
);

const log = join(directory, 'log');

function run(target: string, variables: readonly string[] = []): Promise<Ended> {
  return runTarget({ target, variables, directory, log }, new AbortController().signal);
}

test('what Node prints about a test that failed makes the suite red', async () => {
  const verdict = verdictOf({ ...(await run('test-half')), hasTests: true });
  assert.deepEqual(verdict, { result: 'red', tests: 2, skipped: 0, red: 1 });
});

test('what Node prints about skipped tests alone does not make the suite green', async () => {
  const verdict = verdictOf({ ...(await run('test-skipped')), hasTests: true });
  assert.deepEqual(verdict, { result: 'nothing ran', tests: 1, skipped: 1, red: 0 });
});

test('variables of the outer make do not make a suite shorter, its own do reach it', async (t) => {
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  process.env = { ...before, ARGS: '--only x', SHARE: '1/3', MAKEFLAGS: ' -- SHARE=1/3' };
  const { exitCode, output } = await run('test-arguments', ['MODE=whole']);
  assert.deepEqual([exitCode, output], [0, 'args= share= mode=whole\n']);
});

test('a target that is not there is red', async () => {
  const verdict = verdictOf({ ...(await run('test-none')), hasTests: false });
  assert.equal(verdict.result, 'red');
});

test('an abort ends the suite', async () => {
  const stopped = new AbortController();
  const running = runTarget({ target: 'test-endless', directory, log }, stopped.signal);
  while (!existsSync(log) || !readFileSync(log, 'utf8').includes('started'))
    await new Promise(setImmediate);
  stopped.abort();
  const { exitCode } = await running;
  assert.notEqual(exitCode, 0);
});
