// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderToString } from 'preact-render-to-string';
import { el } from '#console/views/element.ts';

const SRC = join(import.meta.dirname, '../../src/console');
/** Characters that hide, reorder or end text. */
const HIDDEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

test('markup in a text and in an attribute stays text', () => {
  const text = '<img src=x onerror=alert(1)>"\'&';
  const html = renderToString(el('p', { title: text }, text));
  assert.doesNotMatch(html, /<img/);
  assert.equal(html.match(/</g)?.length, 2);
});

test('bidirectional and control characters are shown', () => {
  const html = renderToString(el('p', { title: '\u202eevil' }, 'a\u202eb', ['\u0000c\n']));
  assert.equal(html, '<p title="\\u{202e}evil">a\\u{202e}b\\u{0}c\\u{a}</p>');
});

test('no text of any kind leaves an element or hides a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const html = renderToString(el('p', { title: text }, text));
      assert.equal(html.match(/</g)?.length, 2);
      assert.doesNotMatch(html, HIDDEN);
    }),
  );
});

for (const [name, value] of [
  ['href', 'javascript:alert(1)'],
  ['href', 'https://evil.example'],
  ['href', '//evil.example'],
  ['src', 'data:text/html,x'],
  ['action', 'http://evil.example'],
  ['onclick', 'alert(1)'],
  ['style', 'color: red'],
  ['dangerouslySetInnerHTML', '<b>'],
] as const)
  test(`${name}="${value}" is an error`, () => {
    assert.throws(() => el('a', { [name]: value }), /leaves the page/);
  });

test('one file makes elements, so every text passes it', () => {
  const others = globSync('**/*.ts', { cwd: SRC }).filter((path) => {
    const [, names = ''] =
      /^import (?!type )([^;]*) from 'preact'/m.exec(readFileSync(join(SRC, path), 'utf8')) ?? [];
    return /\bh\b|createElement|Fragment/.test(names);
  });
  assert.deepEqual(others, ['views/element.ts']);
});

test('no file writes markup of a text', () => {
  const found = globSync('**/*.ts', { cwd: SRC }).filter((path) =>
    /innerHTML\s*=|outerHTML|insertAdjacentHTML|document\.write|__html/.test(
      readFileSync(join(SRC, path), 'utf8'),
    ),
  );
  assert.deepEqual(found, []);
});
