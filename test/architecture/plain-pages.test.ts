// SPDX-License-Identifier: Apache-2.0
/** Each page names the actor: none has a word of the list. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'docs/**/*.md',
  'test/**/README.md',
  'bench/**/README.md',
];
/** Each hides an actor or is a metaphor. Name the user, the kubelet, the CA; write request, fix. */
const WORDS =
  /\b(?:nobody|somebody|anybody|everybody|whoever|strangers?|ask(?:s|ed|ing)?|tells?|told|telling|mend(?:s|ed|ing)?|anew|for ever|go(?:es)? on|went on|of ours)\b/gi;

function proseOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .replaceAll(/`[^`]*`/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']');
}

test('no page has a word that hides the actor', () => {
  const pages = PAGES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  assert.ok(pages.length > 180);
  const found = pages.flatMap((page) =>
    [...proseOf(page).matchAll(WORDS)].map(([word]) => `${page}: ${word}`),
  );
  assert.deepEqual(found, []);
});
