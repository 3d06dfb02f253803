// SPDX-License-Identifier: Apache-2.0
/** A ledger in SQLite with as many records as are asked for. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteSigner } from '#ledger/log/note.ts';
import type { AppendRequest } from '#ledger/store/append.ts';
import type { LogNaming } from '#ledger/store/logs.ts';
import { signHeads } from '#ledger/store/sign.ts';
import type { LedgerStore } from '#ledger/store/store.ts';
import { openWorkerStore } from '#ledger/store/worker-store.ts';
import { appending, issuedRecord, NOW, PREFIX } from '../../test/support/ledger/records.ts';

/** A directory whose ledger is filled further, and kept; else each run has one of its own. */
const KEPT = process.env['COUNTERSIGN_BENCH_LEDGER'];
/** At 50 records a second, a checkpoint each five seconds. */
const RECORDS_A_CHECKPOINT = 250;
/** Of ten records one is a person's. */
const PERSONS_EACH = 10;
const PERSONS = 5_000;
const SAID_EACH = 100_000;

/** What is measured, and who is asked for. */
export interface FilledLedger {
  readonly store: LedgerStore;
  readonly path: string;
  readonly naming: LogNaming;
  /** Records that it had already. */
  readonly found: number;
  /** Closes the store, unless it is closed, and removes a directory that is not kept. */
  remove(): Promise<void>;
}

/** The person who asked for record `n`; nothing for those that a pod asked for. */
export function personOf(n: number): string | undefined {
  return n % PERSONS_EACH === PERSONS_EACH - 1 ? `person-${n % PERSONS}` : undefined;
}

/** Records from one number to another, exclusive. */
export function recordsBetween(from: number, to: number): readonly AppendRequest[] {
  return Array.from({ length: to - from }, (_, at) => recordAt(from + at)).map(appending);
}

function recordAt(n: number): ReturnType<typeof issuedRecord> {
  const username = personOf(n);
  if (username === undefined) return issuedRecord(n);
  const requester = { user: { username, groups: ['system:authenticated', 'dev'] } };
  const request = { kind: 'CertificateSigningRequest', name: `csr-${n}`, uid: `csr-${n}` };
  return issuedRecord(n, { request, requester });
}

/** Opens a store over a file as the component does, and says how long that took. */
export async function openAgain(path: string): Promise<number> {
  const began = performance.now();
  const store = await openWorkerStore(path, WORKER);
  await store.unsignedHeads();
  const taken = performance.now() - began;
  await store.close();
  return taken;
}

const WORKER = new URL('../../src/ledger/store/worker.ts', import.meta.url);

/** Opens a ledger and appends what it lacks. */
export async function filledLedger(records: number): Promise<FilledLedger> {
  const directory = KEPT ?? mkdtempSync(join(tmpdir(), 'bench-ledger-'));
  const path = join(directory, 'ledger.db');
  const key = keyOf(join(directory, 'log.key'));
  const store = await openWorkerStore(path, WORKER);
  const naming = { prefix: PREFIX, publicKey: noteSigner(PREFIX, key).publicKey };
  const found = (await store.logs()).reduce((sum, { size }) => sum + size, 0);
  for (let from = found; from < records; from += RECORDS_A_CHECKPOINT) {
    const batch = recordsBetween(from, Math.min(from + RECORDS_A_CHECKPOINT, records));
    await store.append(batch, { naming, now: NOW + from });
    await signHeads(store, [key]);
    if (from % SAID_EACH === 0) console.log(`filled ${from}`);
  }
  return {
    store,
    path,
    naming,
    found,
    remove: async () => {
      await store.close();
      if (KEPT === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The log's key, beside the database: a ledger that is filled further goes on with it. */
function keyOf(file: string): KeyObject {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  return createPrivateKey(readFileSync(file));
}
