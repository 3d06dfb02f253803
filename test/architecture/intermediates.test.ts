// SPDX-License-Identifier: Apache-2.0
/** ADR 0082: which code can sign the CA of another cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROCESSES } from '#install/component-list.ts';
import { closureOf, readSources } from './sources.ts';

const ISSUES = 'requests/issuing/intermediate-ca.ts';
const ENCODES = 'ca/issuance/intermediate.ts';

const sources = readSources();

/** The files that start a component. */
const runs = sources.map(({ path }) => path).filter((path) => path.endsWith('/run.ts'));

test('only the component signer loads the code that signs the CAs of other clusters', () => {
  const loading = runs.filter((path) => closureOf(path, sources).has(ISSUES));
  assert.deepEqual(loading, ['requests/signer/run.ts']);
  assert.ok(runs.length >= PROCESSES.length);
});

test('only that code encodes and prepares the CA of another cluster', () => {
  const using = (name: string): readonly string[] =>
    sources.flatMap(({ path, text }) => (text.includes(name) ? [path] : []));
  assert.deepEqual(using('encodeIntermediateTbs').toSorted(), [
    ENCODES,
    'ca/issuance/prepare.ts',
    ISSUES,
  ]);
  assert.deepEqual(using('prepareIntermediate').toSorted(), [
    ENCODES,
    'ca/issuance/prepare.ts',
    ISSUES,
  ]);
});

test('approver loads the rules for CAs, and no code that encodes one', () => {
  const loaded = closureOf('requests/approver/run.ts', sources);
  assert.ok(loaded.has('ca/policy/intermediates.ts'));
  assert.ok(!loaded.has(ENCODES));
});
