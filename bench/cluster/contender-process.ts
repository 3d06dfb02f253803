// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './contender.ts';

export interface ContenderProcess {
  readonly pid: number;
  /** Rejects when it ends with another exit code than 0, or by a signal that is not ours. */
  readonly failed: Promise<never>;
  /** Resolves when it has ended, however, with its exit code; null: by a signal. */
  readonly ended: Promise<number | null>;
  /** SIGTERM, and SIGKILL after a while; resolves when it is gone. */
  stop(): Promise<void>;
}

const GRACE_MS = 10_000;
const TAIL_CHARACTERS = 2_000;

/** Those that run end with this process, whatever ends it. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Its log goes to a file: nobody else spends time on it while the clock runs. */
export async function startContender(
  { name, command }: Program,
  directory: string,
): Promise<ContenderProcess> {
  const logFile = join(directory, `${name}.log`);
  const log = openSync(logFile, 'w');
  const [program, ...args] = command;
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    // Upstream's programs end themselves when this process is no more.
    env: { ...process.env, CONTROLPLANE_OWNER_PID: String(process.pid) },
  });
  closeSync(log);
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  await once(child, 'spawn');
  let stopping = false;
  const failed = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => {
      if (code === 0 || stopping) return;
      const tail = readFileSync(logFile, 'utf8').slice(-TAIL_CHARACTERS);
      reject(new Error(`${name} ended with ${code ?? signal ?? 'nothing'}: ${tail}`));
    });
  });
  failed.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    failed,
    ended: exited.then(() => child.exitCode),
    stop: async () => {
      stopping = true;
      const insist = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(insist);
    },
  };
}
