// SPDX-License-Identifier: Apache-2.0
/** Logs and proofs of ours in the hands of golang.org/x/mod, transparency-dev and Tessera. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sha256 } from '#ledger/log/merkle.ts';
import { formatVerifierKey, noteSigner, signNote } from '#ledger/log/note.ts';
import { consistencyPath, formatProof, inclusionPath } from '#ledger/log/prove.ts';
import { MemoryLog } from '../support/ledger/memory-log.ts';
import { verdictOf, type LogJudge } from './build.ts';

const ORIGIN = 'countersign.example/ledger/2026';
const SIZES = [1, 2, 255, 256, 257, 511, 512, 1000, 65_535, 65_536, 65_537, 66_000] as const;

const signer = noteSigner(ORIGIN, generateKeyPairSync('ed25519').privateKey);
const key = formatVerifierKey(signer);
const root = mkdtempSync(join(tmpdir(), 'ledger-judges-'));
after(() => rmSync(root, { recursive: true, force: true }));

interface Kept {
  readonly log: MemoryLog;
  readonly directory: string;
  readonly payloads: readonly Uint8Array[];
}

/**
 * A log of `size` entries as files, with its `checkpoint` and, beside it, that of each smaller size
 * in `older`.
 */
async function kept(name: string, size: number, older: readonly number[] = []): Promise<Kept> {
  const payloads = Array.from({ length: size }, (_, index) =>
    Buffer.concat([sha256(Buffer.from(`salt ${index}`)), Buffer.from(`record ${index}`)]),
  );
  const log = new MemoryLog();
  await log.append(payloads.map(sha256));
  const directory = join(root, name);
  log.writeTo(directory, await log.checkpoint(signer));
  for (const each of older) {
    writeFileSync(join(directory, `older-${each}`), await log.checkpoint(signer, each));
  }
  return { log, directory, payloads };
}

async function writeInclusion({ log, directory, payloads }: Kept, index: number): Promise<string> {
  const path = await inclusionPath(log.read, index, log.size);
  const extra = payloads[index] ?? new Uint8Array();
  const checkpoint = await log.checkpoint(signer);
  const file = join(directory, `${index}.tlog-proof`);
  writeFileSync(file, formatProof({ extra, index, path, checkpoint }));
  return file;
}

async function writeConsistency({ log, directory }: Kept, older: number): Promise<string> {
  const hashes = await consistencyPath(log.read, older, log.size);
  const file = join(directory, `consistency-${older}`);
  writeFileSync(file, hashes.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join(''));
  return file;
}

for (const size of SIZES) {
  test(`a log of ${size} entries is accepted by every judge`, async () => {
    const older = SIZES.filter((each) => each < size);
    const here = await kept(`good-${size}`, size, older);
    const checkpoint = join(here.directory, 'checkpoint');
    assert.equal(await verdictOf('note', key, [checkpoint]), '');
    const olderFiles = older.map((each) => join(here.directory, `older-${each}`));
    assert.equal(await verdictOf('tlog', key, [here.directory, ...olderFiles]), '');
    assert.equal(await verdictOf('fsck', key, [here.directory]), '');
    for (const index of new Set([0, size >> 1, size - 1])) {
      assert.equal(await verdictOf('inclusion', key, [await writeInclusion(here, index)]), '');
    }
    for (const [at, each] of older.entries()) {
      const files = [olderFiles[at] ?? '', checkpoint, await writeConsistency(here, each)];
      assert.equal(await verdictOf('consistency', key, files), '', `from ${each}`);
    }
  });
}

interface Tampering {
  readonly what: string;
  /** Who must find it; the others must accept what is left. */
  readonly found: readonly LogJudge[];
  readonly tamper: (here: Kept) => Promise<void> | void;
}

const OLDER = 300;
const SIZE = 1000;
const PROVED = 700;

/** Changes one byte of a file. */
function flip(directory: string, path: string, at: number): void {
  const file = join(directory, path);
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

function truncate(directory: string, path: string, bytes: number): void {
  const file = join(directory, path);
  writeFileSync(file, readFileSync(file).subarray(0, -bytes));
}

/** A log that the same key signed, with other entries from `from` on. */
async function forked(from: number, size: number): Promise<MemoryLog> {
  const log = new MemoryLog();
  const entries = Array.from({ length: size }, (_, index) =>
    index < from
      ? sha256(
          Buffer.concat([sha256(Buffer.from(`salt ${index}`)), Buffer.from(`record ${index}`)]),
        )
      : sha256(randomBytes(40)),
  );
  await log.append(entries);
  return log;
}

const TAMPERINGS: readonly Tampering[] = [
  {
    what: 'an entry is changed',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => flip(directory, 'tile/entries/001', 40),
  },
  {
    what: 'a leaf hash is changed',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => flip(directory, 'tile/0/002', 40),
  },
  {
    what: 'a hash of level 1 is changed',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => flip(directory, 'tile/1/000.p/3', 40),
  },
  {
    what: 'the last tile is truncated by one hash',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => truncate(directory, 'tile/0/003.p/232', 32),
  },
  {
    what: 'the last entry is cut off',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => truncate(directory, 'tile/entries/003.p/232', 34),
  },
  {
    what: 'a tile is gone',
    found: ['tlog', 'fsck'],
    tamper: ({ directory }) => rmSync(join(directory, 'tile/0/001')),
  },
  {
    what: 'the root in the checkpoint is changed',
    found: ['note', 'tlog', 'fsck', 'consistency'],
    tamper: ({ directory }) => flip(directory, 'checkpoint', ORIGIN.length + 8),
  },
  {
    what: 'the size in the checkpoint is changed',
    found: ['note', 'tlog', 'fsck', 'consistency'],
    tamper: ({ directory }) => flip(directory, 'checkpoint', ORIGIN.length + 1),
  },
  {
    what: 'the checkpoint is signed by another key of the same name',
    found: ['note', 'tlog', 'fsck', 'consistency'],
    tamper: async ({ log, directory }) => {
      const other = noteSigner(ORIGIN, generateKeyPairSync('ed25519').privateKey);
      writeFileSync(join(directory, 'checkpoint'), await log.checkpoint(other));
    },
  },
  {
    what: 'the checkpoint is of another log of the same key',
    found: ['note', 'tlog', 'fsck', 'consistency'],
    tamper: async ({ log, directory }) => {
      const hash = Buffer.from(await log.root()).toString('base64');
      const note = signNote(`countersign.example/ledger/2025\n${SIZE}\n${hash}\n`, [signer]);
      writeFileSync(join(directory, 'checkpoint'), note);
    },
  },
  {
    what: 'the log was forked after an older checkpoint: nothing contradicts what was seen',
    found: [],
    tamper: async ({ directory }) => {
      const fork = await forked(OLDER, SIZE);
      fork.writeTo(directory, await fork.checkpoint(signer));
      writeFileSync(join(directory, `consistency-${OLDER}`), await consistencyLines(fork));
    },
  },
  {
    what: 'the log was forked before an older checkpoint',
    found: ['tlog', 'consistency'],
    tamper: async ({ directory }) => {
      const fork = await forked(OLDER - 1, SIZE);
      fork.writeTo(directory, await fork.checkpoint(signer));
      writeFileSync(join(directory, `consistency-${OLDER}`), await consistencyLines(fork));
    },
  },
  {
    what: 'the log is an older copy of itself',
    found: ['tlog', 'consistency'],
    tamper: async ({ directory }) => {
      const copy = await forked(OLDER - 10, OLDER - 10);
      copy.writeTo(directory, await copy.checkpoint(signer));
    },
  },
  {
    what: 'the record in a proof is changed',
    found: ['inclusion'],
    tamper: ({ directory }) =>
      replace(directory, (line) => line.replace(/^extra .{20}/, `extra ${'A'.repeat(20)}`)),
  },
  {
    what: 'the index of a proof is changed',
    found: ['inclusion'],
    tamper: ({ directory }) => replace(directory, (line) => line.replace('index 700', 'index 701')),
  },
  {
    what: 'the first hash of a proof is left out',
    found: ['inclusion'],
    tamper: ({ directory }) => replace(directory, (line, at) => (at === 3 ? '' : line)),
  },
];

async function consistencyLines(fork: MemoryLog): Promise<string> {
  const hashes = await consistencyPath(fork.read, OLDER, SIZE);
  return hashes.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('');
}

function replace(directory: string, change: (line: string, at: number) => string): void {
  const file = join(directory, `${PROVED}.tlog-proof`);
  const lines = readFileSync(file, 'utf8').split(/(?<=\n)/);
  writeFileSync(file, lines.map(change).join(''));
}

for (const [number, { what, found, tamper }] of TAMPERINGS.entries()) {
  test(`${what}: found by ${found.join(', ') || 'nobody'}`, async () => {
    const here = await kept(`bad-${number}`, SIZE, [OLDER]);
    const { directory } = here;
    const [checkpoint, older] = [join(directory, 'checkpoint'), join(directory, `older-${OLDER}`)];
    const proof = await writeInclusion(here, PROVED);
    const consistency = await writeConsistency(here, OLDER);
    await tamper(here);
    const verdicts: Record<LogJudge, string> = {
      note: await verdictOf('note', key, [checkpoint]),
      tlog: await verdictOf('tlog', key, [directory, older]),
      fsck: await verdictOf('fsck', key, [directory]),
      inclusion: await verdictOf('inclusion', key, [proof]),
      consistency: await verdictOf('consistency', key, [older, checkpoint, consistency]),
    };
    const refusing = Object.entries(verdicts).filter(([, reason]) => reason !== '');
    assert.deepEqual(
      refusing.map(([judge]) => judge),
      found,
      JSON.stringify(verdicts, null, 1),
    );
  });
}
