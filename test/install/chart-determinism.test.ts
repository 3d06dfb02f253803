// SPDX-License-Identifier: Apache-2.0
/** Argo CD renders the chart every few minutes, and each difference is a change of the cluster. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const CHART = join(import.meta.dirname, '../../deploy/chart');

/** Functions of Sprig and Helm that return another text at each call, or depend on the machine. */
const CHANGING =
  /(?<![.$\w])(?:rand(?:Alpha|AlphaNum|Numeric|Ascii|Bytes|Int)|uuidv4|now|ago|htpasswd|bcrypt|derivePassword|gen(?:CA|PrivateKey|SelfSignedCert|SignedCert)\w*|encryptAES|getHostByName|env|expandenv|shuffle)\b/;

/** Returns the actions of a template, without texts in quotes and comments. */
function actionsOf(file: string): readonly string[] {
  const text = readFileSync(join(CHART, file), 'utf8');
  return [...text.matchAll(/\{\{-?(?!-?\s*\/\*)(.*?)-?\}\}/gs)].map(([, action = '']) =>
    action.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'),
  );
}

test('no template of the chart calls a function whose result changes', () => {
  const files = globSync('templates/**/*', { cwd: CHART, exclude: ['**/crds'] }).filter((file) =>
    /\.(?:yaml|tpl|txt)$/.test(file),
  );
  assert.ok(files.length > 15);
  const actions = files.flatMap((file) => actionsOf(file).map((action) => [file, action] as const));
  assert.ok(actions.length > 500);
  assert.deepEqual(
    actions.filter(([, action]) => CHANGING.test(action)),
    [],
  );
});
