// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodePem, decodePemAll, encodePem } from '#pki/der/pem.ts';
import { refuses } from '../../support/pki/refuses.ts';

const LABEL = 'CERTIFICATE REQUEST';
const BODY = Buffer.from('only the bytes matter here').toString('base64');
const BLOCK = `-----BEGIN ${LABEL}-----\n${BODY}\n-----END ${LABEL}-----\n`;

describe('a PEM text of one block is read as Go reads it', () => {
  const cases: Readonly<Record<string, string>> = {
    'with a newline at the end': BLOCK,
    'without one': BLOCK.trimEnd(),
    'with Windows line ends': BLOCK.replaceAll('\n', '\r\n'),
    'with blanks at the ends of its lines': BLOCK.replaceAll('\n', ' \t\n'),
    'with blank lines around it': `\n\n${BLOCK}\n\n`,
    'with the text of openssl req -text before it': `Certificate Request:\n    Data:\n        Version: 1 (0x0)\n${BLOCK}`,
    'with bag attributes before it': `Bag Attributes\n    localKeyID: 01 \nsubject=CN = a\n\n${BLOCK}`,
    'with text after it': `${BLOCK}# the key is on host a\n`,
    'with a byte order mark before text': `\ufeffCertificate Request:\n${BLOCK}`,
    'with four dashes in a line of text': `---- a ----\n${BLOCK}`,
  };
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => {
      assert.equal(Buffer.from(decodePem(text, LABEL)).toString(), 'only the bytes matter here');
    });
  }
});

describe('a PEM text that different parsers read differently is refused', () => {
  const cases: Readonly<Record<string, string>> = {
    'an empty text': '',
    'no block': 'hello',
    'a byte order mark before BEGIN': `\ufeff${BLOCK}`,
    'a line of dashes before it': `-----------\n${BLOCK}`,
    'an END line before it': `-----END ${LABEL}-----\n${BLOCK}`,
    'a NUL in the text': `\0\n${BLOCK}`,
    'text that runs into BEGIN': `a text ${BLOCK}`,
    'another label': BLOCK.replaceAll(LABEL, 'NEW CERTIFICATE REQUEST'),
    'two blocks': BLOCK + BLOCK,
    'another block before it': BLOCK.replaceAll(LABEL, 'CERTIFICATE') + BLOCK,
    headers: BLOCK.replace('\n', '\nProc-Type: 4,ENCRYPTED\n\n'),
    'a BEGIN line that does not begin a line': `x${BLOCK}`,
    'a BEGIN line after a blank': ` ${BLOCK}`,
    'an END line that does not begin a line': BLOCK.replace('\n-----END', '-----END'),
    'an END line after a blank': BLOCK.replace('\n-----END', '\n -----END'),
    'an END line with another label': BLOCK.replace(`END ${LABEL}`, 'END CERTIFICATE'),
    'an END line with something after it': `${BLOCK.trimEnd()}x\n`,
    'a block that begins where another ends': `${BLOCK.trimEnd()}${BLOCK}`,
    'no END line': BLOCK.split('-----END')[0] ?? '',
    'a BEGIN line within a block': BLOCK.replace('\n', `\n-----BEGIN ${LABEL}-----\n`),
    'old Macintosh line ends': BLOCK.replaceAll('\n', '\r'),
    'an empty block': `-----BEGIN ${LABEL}-----\n-----END ${LABEL}-----\n`,
    'base64 without its padding': BLOCK.replace('=', ''),
    base64url: BLOCK.replace(BODY, '_-_-'),
    'base64 with too much padding': BLOCK.replace(BODY, 'Q==='),
    'base64 with padding inside': BLOCK.replace(BODY, `QQ==${BODY}`),
    'characters that are not base64': BLOCK.replace(BODY, `${BODY}\u00e9`),
    'a label in lower case': BLOCK.replaceAll(LABEL, 'certificate request'),
  };
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => refuses(() => decodePem(text, LABEL), 'PEM_MALFORMED', /\w/));
  }
});

test('spare bits of base64 that are set change no octet', () => {
  assert.equal(Buffer.from(decodePem(BLOCK.replace(BODY, 'QUJ='), LABEL)).toString(), 'AB');
});

test('a byte order mark is named with the command that removes it', () => {
  for (const mark of ['\ufeff', Buffer.from('\ufeff').toString('latin1')]) {
    refuses(() => decodePem(mark + BLOCK, LABEL), 'PEM_MALFORMED', /byte order mark.*sed -i/);
  }
});

test('a text without a block is no empty list of blocks', () => {
  refuses(() => decodePemAll('hello', 'CERTIFICATE'), 'PEM_MALFORMED', /openssl x509 -inform der/);
});

test('text between blocks is skipped, and each block is read', () => {
  const text = `a\n${BLOCK}b: c\n${BLOCK}d\n`;
  assert.equal(decodePemAll(text, LABEL).length, 2);
});

test('blocks keep their order, and a text without blocks gives an empty list', () => {
  const texts = ['a', 'b', 'c'];
  const pem = texts.map((text) => encodePem('CERTIFICATE', Buffer.from(text))).join('\n');
  const read = decodePemAll(pem, 'CERTIFICATE').map((der) => Buffer.from(der).toString());
  assert.deepEqual(read, texts);
  assert.deepEqual(decodePemAll('\n', 'CERTIFICATE'), []);
});

test('encoded PEM has lines of 64 characters and is decoded again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), (der) => {
      const pem = encodePem('CERTIFICATE', der);
      assert.ok(pem.split('\n').every((line) => line.length <= 64));
      assert.deepEqual(Uint8Array.from(decodePem(pem, 'CERTIFICATE')), der);
    }),
  );
});

describe('many repeated fragments are refused at the first one', () => {
  const BOMB_BYTES = 856_000;
  const fragments = [
    '-----BEGIN',
    '-----BEGIN \n',
    `-----BEGIN ${LABEL}-----\n`,
    `-----END ${LABEL}-----\n`,
    '-----',
    `-----BEGIN ${LABEL}-----\nA:B\n`,
  ];
  for (const fragment of fragments) {
    test(JSON.stringify(fragment), () => {
      const bomb = fragment.repeat(Math.ceil(BOMB_BYTES / fragment.length));
      refuses(() => decodePem(bomb, LABEL), 'PEM_MALFORMED', /\w/);
      refuses(() => decodePem(bomb + BLOCK, LABEL), 'PEM_MALFORMED', /\w/);
    });
  }

  test('a PEM text larger than etcd stores is refused unread', () => {
    refuses(() => decodePem('\n'.repeat(1_572_865), LABEL), 'PEM_MALFORMED', /1572864/);
  });
});
