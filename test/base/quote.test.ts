// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isPlainWord, printable, quote, quoteList, shellWord } from '#base/quote.ts';

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

/** Names that the API server accepts for a CertificateSigningRequest, and more. */
const NAMES: readonly string[] = [
  'jane-1',
  'x; id',
  '$(id)',
  '`id`',
  "a'b; id #",
  '"; id "',
  'a\nid',
  'a b',
  '-f',
  '--all',
  '~',
  '*',
  'a&b',
  'a|b',
  '!1',
  '\u001b[2J',
  '#',
  '\\',
  "'",
  '',
  '=x',
  'csr/x;id',
  "\\'; id; '",
  '\\\\',
  "''",
  "x'\\",
  '{a,b}',
  '<(id)',
  '>x',
  '^x^',
  '(id)',
  '?',
  '[a]',
  '@(a)',
];

/** sh and bash are everywhere; the others where they are installed (`make test-shells`). */
const SHELLS = ['sh', 'bash', 'zsh', 'fish'].filter(
  (shell) => spawnSync(shell, ['-c', 'true']).error === undefined,
);

for (const shell of SHELLS) {
  test(`${shell} reads one word for any name, and no command takes it for an option`, () => {
    const words = NAMES.map((name) => shellWord(name, 'csr/'));
    const program = words.map((word) => `printf '<%s>' ${word}; echo`).join('\n');
    const { stdout } = spawnSync(shell, ['-c', program], { encoding: 'utf8' });
    const plain = NAMES.map((name, at) => (words[at] === name ? name : printable(`csr/${name}`)));
    assert.equal(stdout, plain.map((each) => `<${each}>\n`).join(''));
    for (const word of words) assert.doesNotMatch(word, /^-/);
  });

  test(`${shell} takes a plain word as it is`, () => {
    const taken = NAMES.filter(isPlainWord);
    assert.deepEqual(taken, ['jane-1']);
    const words = [
      ...taken,
      'csr/a.b',
      'example.com:x:primary',
      'user@host',
      'a=b+c',
      '_x',
      '/x/y',
    ];
    assert.ok(words.every(isPlainWord));
    const { stdout } = spawnSync(shell, ['-c', `printf '<%s>' ${words.join(' ')}`], {
      encoding: 'utf8',
    });
    assert.equal(stdout, words.map((each) => `<${each}>`).join(''));
  });
}

test('a plain name is not quoted', () => {
  assert.equal(shellWord('jane-1', 'csr/'), 'jane-1');
});
