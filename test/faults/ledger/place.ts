// SPDX-License-Identifier: Apache-2.0
/** Where the records are, and what can befall that: a database of either kind. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Database } from '#ledger/database/database.ts';
import { openPostgres, openSqlite } from '#ledger/index.ts';
import { startPostgres } from '../../support/ledger/postgres.ts';
import type { Supervised } from '../lab/supervised.ts';

const run = promisify(execFile);

/**
 * Longer than a transaction waits for another one (sqlite.ts), and than a sender for its answer
 * (https.ts).
 */
const AWAY_MS = 20_000;
/** What a file may have while the disk is full: less than any database. */
const FULL_BYTES = 65_536;

/** A database and its faults; each resolves when it is over. */
export interface Place extends AsyncDisposable {
  /** Arguments of the ledger. */
  readonly args: readonly string[];
  readonly open: () => Database;
  /** Nobody can use it for a while. */
  away(): Promise<void>;
  /** It answers nobody for a while, and then goes on. */
  hangs(): Promise<void>;
  /** No file of it grows for a while. */
  full(ledger: Supervised): Promise<void>;
  /** The ledger or the database is killed, and goes on with a copy of its files, or with these. */
  restored(ledger: Supervised): Promise<void>;
}

/** SQLite in `directory`, behind a link that a copy can be put in the place of. */
export function sqlitePlace(directory: string): Place {
  let copies = 0;
  const data = join(directory, 'data');
  mkdirSync(join(directory, 'data-0'), { recursive: true });
  symlinkSync(join(directory, 'data-0'), data);
  const path = join(data, 'ledger.db');
  const locked = async (begin: string): Promise<void> => {
    // Another program has the database: a backup, or a person.
    const other = new DatabaseSync(path);
    other.exec(`PRAGMA busy_timeout = 60000; ${begin}`);
    await sleep(AWAY_MS);
    other.exec('ROLLBACK');
    other.close();
  };
  return {
    args: ['--data', data],
    open: () => openSqlite(path),
    away: () => locked('BEGIN EXCLUSIVE'),
    hangs: () => locked('BEGIN IMMEDIATE'),
    full: (ledger) => limited([ledger.process.pid]),
    restored: async (ledger) => {
      const { process } = ledger;
      const before = ledger.starts;
      process.signal('SIGSTOP');
      const next = join(directory, `data-${(copies += 1)}`);
      // As a snapshot of the volume: database and WAL as they are at one moment.
      cpSync(join(directory, `data-${copies - 1}`), next, { recursive: true });
      symlinkSync(next, `${data}.next`);
      renameSync(`${data}.next`, data);
      await ledger.kill();
      await ledger.restarted(before);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A PostgreSQL of the lab's own. */
export async function postgresPlace(directory: string): Promise<Place> {
  const server = await startPostgres();
  const url = await server.database('ledger');
  const file = join(directory, 'database-url');
  writeFileSync(file, url, { mode: 0o600 });
  const signalled = (signal: NodeJS.Signals): void => {
    for (const pid of server.processes()) process.kill(pid, signal);
  };
  return {
    args: ['--data', directory, '--database-url', file],
    open: () => openPostgres(url),
    away: async () => {
      await server.stop();
      await sleep(AWAY_MS);
      await server.start();
    },
    hangs: async () => {
      signalled('SIGSTOP');
      await sleep(AWAY_MS);
      signalled('SIGCONT');
    },
    // A write that its WAL has no room for ends all processes but the first (PANIC), which starts
    // them again.
    full: () => limited(server.processes().slice(1)),
    restored: () => server.crash(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Processes that have ended meanwhile are passed over. */
async function limited(pids: readonly number[]): Promise<void> {
  const limit = (pid: number, bytes: string): Promise<unknown> =>
    run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  await Promise.allSettled(pids.map((pid) => limit(pid, String(FULL_BYTES))));
  await sleep(AWAY_MS);
  await Promise.allSettled(pids.map((pid) => limit(pid, 'unlimited')));
}
