// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ATTEMPTS } from '../integration/taken-over/attempts.ts';
import { ATTEMPTS as OF_THE_OPERATOR } from '../operator/attempts.ts';

const page = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8');

test('what SECURITY.md says that a component cannot do is what is tried with its token', () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| [^|]+\| ([^|]+) \|$/gm)];
  const said = rows.flatMap(([, component = '', sentences = '']) =>
    sentences.split(';').map((sentence) => `${component} cannot ${sentence.trim()}`),
  );
  const tried = ATTEMPTS.map(({ component, cannot }) => `${component} cannot ${cannot}`);
  assert.deepEqual(said.sort(), tried.sort());
});

test('tries with its token what SECURITY.md says that the operator cannot do', () => {
  const [, list = ''] = /By its own token it cannot:\n\n((?:- .*\n)+)/.exec(page) ?? [];
  const said = list.split(/;\n?|\.\n/).map((each) => each.replace(/^- /, '').trim());
  const sentences = said.filter((each) => each !== '');
  assert.deepEqual(sentences.sort(), Object.keys(OF_THE_OPERATOR).sort());
});
