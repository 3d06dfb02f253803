// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '../cluster/ports.ts';
import { buildWitness } from './build.ts';

/** A running witness of somebody else. */
export interface Litewitness {
  readonly url: URL;
  /** Of its cosignatures. */
  readonly key: string;
  /** It cosigns this log from now on. @param verifierKey - C2SP signed-note verifier key */
  readonly know: (origin: string, verifierKey: string) => void;
  readonly end: () => Promise<void>;
}

/** Starts one, with a key of its own, in a directory of its own. */
export async function startLitewitness(directory: string): Promise<Litewitness> {
  mkdirSync(directory, { recursive: true });
  const program = await buildWitness();
  const [socket, key] = [join(directory, 'agent.sock'), join(directory, 'key')];
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  await thereIs(directory, socket);
  execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-lf', key]).toString().split(' ');
  const listen = `127.0.0.1:${await freePort()}`;
  const database = join(directory, 'witness.db');
  const witness = spawn(
    program,
    [
      '-name',
      'witness.example/a',
      '-db',
      database,
      '-ssh-agent',
      socket,
      '-key',
      fingerprint,
      '-listen',
      listen,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const vkey = await keyOf(witness);
  return {
    url: new URL(`http://${listen}/`),
    key: vkey,
    know: (origin, verifierKey) => {
      const tables = new DatabaseSync(database);
      // As witnessctl add-log and add-key do.
      const empty = Buffer.alloc(32).toString('base64');
      tables.prepare('INSERT INTO log VALUES (?, 0, ?)').run(origin, empty);
      tables.prepare('INSERT INTO key VALUES (?, ?)').run(origin, verifierKey);
      tables.close();
    },
    end: async () => {
      for (const each of [witness, agent]) {
        const ended = once(each, 'exit');
        each.kill();
        await ended;
      }
    },
  };
}

async function thereIs(directory: string, path: string): Promise<void> {
  const watcher = watch(directory);
  while (!existsSync(path)) await once(watcher, 'change');
  watcher.close();
}

/** What it logs once it has its key; it listens right after. */
async function keyOf(witness: ChildProcess): Promise<string> {
  if (witness.stderr === null) throw new TypeError('it has no stderr');
  const lines = createInterface({ input: witness.stderr });
  let key: string | undefined;
  for await (const line of lines) {
    key ??= /vkey=(\S+)/.exec(line)?.[1];
    if (key !== undefined && line.includes('listening')) break;
  }
  witness.stderr.resume();
  if (key === undefined) throw new Error('litewitness did not start');
  return key;
}
