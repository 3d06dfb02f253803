// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOf, countsTests, pathsIn, readMakefile } from './makefile.ts';

const TEXT = `
PROGRAM := COUNTERSIGN_PROGRAM=x
RUN := PATH=y $(PROGRAM)
UNIT := test/cli test/ca

.PHONY: test-one
test-one: node_modules dist/countersign.mjs ## One; ARGS='--x'
	$(RUN) node test/one/build.ts >/dev/null
	$(RUN) node --test 'test/one/*-run.ts' $(ARGS)

test-two: ## Two
	$(MAKE) --jobs=2 parts-of-two

parts-of-two:
	node test/two/main.ts

dist/countersign.mjs: build/bundle.ts
	node build/bundle.ts
`;
const makefile = readMakefile(TEXT);

test('the commands of a target have those of its prerequisites, with variables', () => {
  assert.equal(
    commandsOf(makefile, 'test-one'),
    [
      'test-one: node_modules dist/countersign.mjs',
      '$(RUN) node test/one/build.ts >/dev/null',
      "$(RUN) node --test 'test/one/*-run.ts' $(ARGS)",
      'dist/countersign.mjs: build/bundle.ts',
      'node build/bundle.ts',
      'RUN = PATH=y $(PROGRAM)',
      'ARGS = ',
      'PROGRAM = COUNTERSIGN_PROGRAM=x',
    ].join('\n'),
  );
});

test('the commands of a target have those of the targets that its recipe makes', () => {
  assert.match(commandsOf(makefile, 'test-two'), /node test\/two\/main\.ts/);
});

test('help and the variables of other targets do not change the commands of a target', () => {
  const other = readMakefile(TEXT.replace('## One', '## Another').replace('test/ca', 'test/cel'));
  assert.equal(commandsOf(other, 'test-one'), commandsOf(makefile, 'test-one'));
});

test('the files that commands name are found, patterns too', () => {
  assert.deepEqual(pathsIn(commandsOf(makefile, 'test-one')), [
    'test/one/build.ts',
    'test/one/*-run.ts',
    'build/bundle.ts',
  ]);
});

test('a target counts tests if it runs node:test or the integration tests', () => {
  assert.equal(countsTests(commandsOf(makefile, 'test-one')), true);
  assert.equal(countsTests(commandsOf(makefile, 'test-two')), false);
  assert.equal(countsTests('node test/integration/run.ts --part long'), true);
});
