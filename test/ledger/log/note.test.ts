// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { openCheckpoint, signCheckpoint } from '#ledger/log/checkpoint.ts';
import { openLogList, signLogList } from '#ledger/log/list.ts';
import { sha256 } from '#ledger/log/merkle.ts';
import {
  formatVerifierKey,
  noteSigner,
  openNote,
  parseVerifierKey,
  signNote,
} from '#ledger/log/note.ts';

const MALFORMED = { code: 'LEDGER_MALFORMED' };
const signerOf = (name: string) => noteSigner(name, generateKeyPairSync('ed25519').privateKey);
const log = signerOf('example.com/ledger/2026');
const other = signerOf('example.com/ledger/2026');

// Of the documentation of golang.org/x/mod/sumdb/note.
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const PETERS_NOTE =
  'If you think cryptography is the answer to your problem,\n' +
  'then you don’t know what your problem is.\n\n' +
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';

test("the note of Go's documentation opens with its key", () => {
  const key = parseVerifierKey(PETER);
  assert.equal(formatVerifierKey(key), PETER);
  const text = PETERS_NOTE.replace('don’t', "don't");
  assert.deepEqual(openNote(text, [key]).by, [key]);
  assert.throws(() => openNote(PETERS_NOTE, [key]), MALFORMED);
});

test('a note opens with a key that signed it, despite signatures of unknown keys', () => {
  const note = signNote('words\n', [other, log]);
  assert.deepEqual(openNote(note, [parseVerifierKey(formatVerifierKey(log))]).text, 'words\n');
});

test('a note does not open by another key of the same name, changed, cut, or unsigned', () => {
  const note = signNote('words\n', [log]);
  const fails = (text: string, by = log) => assert.throws(() => openNote(text, [by]), MALFORMED);
  fails(note, other);
  fails(note.replace('words', 'Words'));
  fails(note.slice(0, -1));
  fails('words\n');
  fails('words\n\n');
  fails(note.replace('— ', '- '));
});

test('the key of a verifier is refused with a wrong ID, algorithm, length or base64', () => {
  const key = formatVerifierKey(log);
  const [name = '', id = '', encoded = ''] = key.split('+');
  for (const wrong of [
    `${name}+00000000+${encoded}`,
    `other+${id}+${encoded}`,
    `${name}+${id}+${encoded.slice(0, -4)}`,
    key.replace('+A', '+B'),
    name,
  ]) {
    assert.throws(() => parseVerifierKey(wrong), MALFORMED, wrong);
  }
});

test('a checkpoint says origin, size and root, and is refused if it is of another log', () => {
  const head = { origin: log.name, size: 12, root: sha256(Buffer.from('root')) };
  const read = openCheckpoint(signCheckpoint(head, log), log);
  assert.deepEqual(
    { ...read, root: Buffer.from(read.root) },
    { ...head, root: Buffer.from(head.root) },
  );
  const foreign = signCheckpoint({ ...head, origin: 'example.com/another' }, log);
  assert.throws(() => openCheckpoint(foreign, log), MALFORMED);
});

test('a checkpoint whose size or root has another spelling is refused', () => {
  const root = Buffer.alloc(32).toString('base64');
  for (const body of [
    `012\n${root}`,
    `-1\n${root}`,
    `9007199254740993\n${root}`,
    '1\nAAAA',
    `1\n${root.slice(0, -1)}`,
  ]) {
    const note = signNote(`${log.name}\n${body}\n`, [log]);
    assert.throws(() => openCheckpoint(note, log), MALFORMED, body);
  }
});

test('reads the list of logs by the new or the previous key; only the last log is open', () => {
  const next = signerOf('example.com/ledger/2027');
  const logs = [{ verifier: log, frozenAt: 12 }, { verifier: next }];
  const note = signLogList(logs, [next, log]);
  for (const key of [log, next]) {
    const read = openLogList(note, [key]);
    assert.deepEqual(
      read.map(({ verifier, frozenAt }) => [verifier.name, frozenAt]),
      [
        [log.name, 12],
        [next.name, undefined],
      ],
    );
  }
  assert.throws(() => openLogList(note, [other]), MALFORMED);
  assert.throws(() => openLogList(signLogList(logs.toReversed(), [log]), [log]), MALFORMED);
});
