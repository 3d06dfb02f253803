// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Answer {
  /** User and system time of all of its threads. */
  readonly cpuMicroseconds: number;
  /** base64 of the last leaf, DER. */
  readonly last: string;
}

export interface ContenderProcess {
  /** Issues so many leaves. Rejects when the process ends instead of answering. */
  issue(count: number): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a contender; it waits for work without using a core. */
export function startContender(command: readonly [string, ...string[]]): ContenderProcess {
  const [program, ...args] = command;
  const env = { ...process.env, GOMAXPROCS: '1' };
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    issue: async (count) => {
      child.stdin.write(`${count}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`${command.join(' ')} ended without an answer`);
      return JSON.parse(line.value) as Answer;
    },
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
