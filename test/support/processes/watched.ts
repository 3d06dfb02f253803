// SPDX-License-Identifier: Apache-2.0
/**
 * Runs a command and fails if a process that it started is alive at its end, also where it failed:
 * `node test/support/processes/watched.ts COMMAND…`. Processes are known by a variable of their
 * environment, which all descendants inherit. Only Linux shows it, in proc_pid_environ(5).
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, signal } from '../../cluster/pids.ts';

const VARIABLE = 'COUNTERSIGN_WATCHED';
/** Processes that were told to end may take this long, on a busy machine too. */
const ENDING_MS = Number(process.env['COUNTERSIGN_WATCHED_ENDING_MS'] ?? 60_000);

interface Left {
  readonly pid: number;
  readonly command: string;
}

/** Returns the processes with this variable that still run. */
function leftRunning(mark: string): readonly Left[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        if (!environment.includes(mark) || !isRunning(Number(pid))) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(pid), command: command.trim().slice(0, 200) }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

const [command = '', ...args] = process.argv.slice(2);
const id = randomUUID();
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, [VARIABLE]: id } });
// A terminal sends SIGINT to both. The command ends what it started, so this process waits.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
process.exitCode = code ?? 128 + (ended === null ? 0 : constants.signals[ended]);

const mark = `${VARIABLE}=${id}`;
const until = Date.now() + ENDING_MS;
while (leftRunning(mark).length > 0 && Date.now() < until) await sleep(50);
const left = leftRunning(mark);
for (const { pid, command: line } of left) {
  console.error(`left running, ended now: ${pid} ${line}`);
  signal(pid, 'SIGKILL');
}
while (left.some(({ pid }) => isRunning(pid))) await sleep(10);
if (left.length > 0) process.exitCode ||= 1;
