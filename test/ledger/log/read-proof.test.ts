// SPDX-License-Identifier: Apache-2.0
/** A proof is verified by the log's key alone, and no other bytes pass as one. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { sha256 } from '#ledger/log/merkle.ts';
import { noteSigner } from '#ledger/log/note.ts';
import { formatProof, inclusionPath } from '#ledger/log/prove.ts';
import { parseProof, verifyProof } from '#ledger/log/read-proof.ts';
import { MemoryLog } from '../../support/ledger/memory-log.ts';

const signer = (name: string): ReturnType<typeof noteSigner> =>
  noteSigner(name, generateKeyPairSync('ed25519').privateKey);
const KEY = signer('countersign.example/ledger/2026');
const extraOf = (index: number): Uint8Array => Buffer.from(`salt and record ${index}`);

const logs = new Map<number, Promise<MemoryLog>>();
function logOf(size: number): Promise<MemoryLog> {
  const found = logs.get(size) ?? made(size);
  logs.set(size, found);
  return found;
}

async function made(size: number): Promise<MemoryLog> {
  const log = new MemoryLog();
  await log.append(Array.from({ length: size }, (_, index) => sha256(extraOf(index))));
  return log;
}

async function proofOf(index: number, size: number, by = KEY, extra = true): Promise<string> {
  const log = await logOf(size);
  const path = await inclusionPath(log.read, index, size);
  const checkpoint = await log.checkpoint(by);
  return formatProof({ ...(extra ? { extra: extraOf(index) } : {}), index, path, checkpoint });
}

test('each proof of each record of a log is verified by its key', async () => {
  for (const size of [1, 2, 3, 7, 8, 257]) {
    for (const index of new Set([0, size >> 1, size - 1])) {
      const head = verifyProof(parseProof(await proofOf(index, size)), [signer('other'), KEY]);
      assert.deepEqual([head.origin, head.size], [KEY.name, size]);
    }
  }
});

test('of a record that was removed the proof holds for whoever kept salt and record', async () => {
  const proof = parseProof(await proofOf(5, 9, KEY, false));
  assert.throws(() => verifyProof(proof, [KEY]), /neither salt nor record/);
  assert.equal(verifyProof(proof, [KEY], extraOf(5)).size, 9);
  assert.throws(() => verifyProof(proof, [KEY], extraOf(4)), { code: 'LEDGER_INCONSISTENT' });
});

test('a key of another log, or another key of the same name, verifies nothing', async () => {
  const proof = parseProof(await proofOf(3, 9));
  for (const key of [signer('countersign.example/ledger/2025'), signer(KEY.name)])
    assert.throws(() => verifyProof(proof, [key]), { code: 'LEDGER_MALFORMED' });
  const others = signer('other.example/ledger');
  // Another log's head that one of the known keys signed beside its own.
  const foreign = (await proofOf(3, 9)).replace(KEY.name, others.name);
  assert.throws(() => verifyProof(parseProof(foreign), [KEY, others]), {
    code: 'LEDGER_MALFORMED',
  });
});

test('no changed character of a proof leaves it a proof of this record', async () => {
  const text = await proofOf(5, 9);
  const before = JSON.stringify(parseProof(text));
  for (let at = 0; at < text.length; at += 1) {
    const other = text[at] === 'A' ? 'B' : 'A';
    const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
    assert.throws(
      () => {
        verifyProof(parseProof(changed), [KEY]);
        assert.fail(`${at}: ${changed}`);
      },
      (error: Error & { code?: string }) => /^LEDGER_/.test(error.code ?? ''),
      `at ${at} of ${before}`,
    );
  }
});

test('refuses a line too many or too few, and a proof longer than a tree has levels', async () => {
  const lines = (await proofOf(5, 9)).split('\n');
  const hash = lines[3] ?? '';
  for (const wrong of [
    [...lines.slice(0, 3), ...lines.slice(4)],
    [...lines.slice(0, 3), hash, ...lines.slice(3)],
    [...lines.slice(0, 3), ...Array.from({ length: 64 }, () => hash), ...lines.slice(3)],
    lines.filter((line) => !line.startsWith('index ')),
    ['extra QQ', ...lines.slice(1)],
    [],
  ])
    assert.throws(
      () => verifyProof(parseProof(wrong.join('\n')), [KEY]),
      (error: Error & { code?: string }) => /^LEDGER_/.test(error.code ?? ''),
    );
});
