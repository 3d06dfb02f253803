// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quote, quoteList } from '../../src/policy/quote.ts';

test('a foreign text is quoted, and nothing in it acts on a terminal', () => {
  assert.equal(quote('a"b'), String.raw`"a\"b"`);
  assert.equal(
    quote('\u001b[31m\u009b\u202e\u2028'),
    String.raw`"\u001b[31m\u{9b}\u{202e}\u{2028}"`,
  );
});

test('a foreign text is cut, also in the middle of a character', () => {
  assert.equal(quote('x'.repeat(81)), `"${'x'.repeat(80)}…"`);
  assert.equal(quote(`${'x'.repeat(79)}😀`), `"${'x'.repeat(79)}\ufffd…"`);
});

test('of a long list five are named and the rest is counted', () => {
  assert.equal(quoteList(['a', 'b']), '"a", "b"');
  assert.equal(
    quoteList(['a', 'b', 'c', 'd', 'e', 'f', 'g']),
    '"a", "b", "c", "d", "e" and 2 more',
  );
});
