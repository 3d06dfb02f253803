// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { printable, quote, quoteList, shellWord } from '../src/quote.ts';

test('text of a requester is quoted and its control characters are escaped', () => {
  assert.equal(quote('a"b'), String.raw`"a\"b"`);
  assert.equal(
    quote('\u001b[31m\u009b\u202e\u2028'),
    String.raw`"\u001b[31m\u{9b}\u{202e}\u{2028}"`,
  );
});

test('long text is cut, never inside a surrogate pair', () => {
  assert.equal(quote('x'.repeat(81)), `"${'x'.repeat(80)}…"`);
  assert.equal(quote(`${'x'.repeat(79)}😀`), `"${'x'.repeat(79)}\ufffd…"`);
});

test('a long list is cut to five items and the number of the others', () => {
  assert.equal(quoteList(['a', 'b']), '"a", "b"');
  assert.equal(
    quoteList(['a', 'b', 'c', 'd', 'e', 'f', 'g']),
    '"a", "b", "c", "d", "e" and 2 more',
  );
});

test('a shell reads one word, whatever a name holds, and no command takes it for an option', () => {
  for (const name of [
    ...['jane-1', 'x; id', '$(id)', '`id`', "a'b; id #", '"; id "', 'a\nid', 'a b', '-f', '--all'],
    ...['~', '*', 'a&b', 'a|b', '!1', '\u001b[2J', '#', '\\', "'", '', '=x', 'csr/x;id'],
  ]) {
    const word = shellWord(name, 'csr/');
    const program = `set -- ${word}; printf '%s:%s' "$#" "$1"`;
    const { stdout } = spawnSync('sh', ['-c', program], { encoding: 'utf8' });
    const plain = word === name ? name : printable(`csr/${name}`);
    assert.equal(stdout, `1:${plain}`);
    assert.doesNotMatch(word, /^-/);
  }
  assert.equal(shellWord('jane-1', 'csr/'), 'jane-1');
});
