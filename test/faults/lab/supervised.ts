// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../cluster/until.ts';
import {
  startComponent,
  type ComponentOptions,
  type ComponentProcess,
  type LogLine,
} from '../../support/cluster/component-process.ts';

/** A component that is restarted whenever it ends, as by a Deployment. */
export interface Supervised {
  /** The door that it uses. */
  readonly client: string;
  /** The process of now. */
  readonly process: ComponentProcess;
  /** How many processes there have been. */
  readonly starts: number;
  /** What all its processes logged, oldest first. */
  log(): readonly LogLine[];
  /** What its process of now logged; nothing once that has ended. */
  logOfRunning(): readonly LogLine[];
  /** SIGKILL; resolves when it is gone. The next one starts by itself. */
  kill(): Promise<void>;
  /** Writes the file that test/faults/preload/die.ts reads. */
  tellWhenToDie(text: string): void;
  /**
   * Sets the clock as test/faults/preload/clock.ts has it. Resolves once the process has read it: a
   * busy machine delivers a signal late.
   */
  setClock(text: string): Promise<void>;
  /** Resolves when its process is another one than number `before`, and ready. */
  restarted(before: number): Promise<void>;
  /** Resolves when the process of now is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const RESTART_MS = 60_000;

/** @param directory - FAULT_DIRECTORY of its processes */
export async function supervise(
  client: string,
  directory: string,
  options: ComponentOptions,
): Promise<Supervised> {
  const processes: ComponentProcess[] = [];
  const ended = new Set<ComponentProcess>();
  let stopped = false;
  let failure: unknown;
  /** Ends when a process that is being started has been, or could not be. */
  let starting: Promise<void> = Promise.resolve();

  async function start(): Promise<void> {
    const env = { ...process.env, ...options.env, FAULT_DIRECTORY: directory };
    const started = await startComponent({ ...options, env });
    processes.push(started);
    void started.exited.then(() => {
      ended.add(started);
      if (stopped) return;
      // `restarted` tells of one that does not start.
      starting = start().catch((error: unknown) => {
        failure = error;
      });
    });
  }

  const current = (): ComponentProcess => {
    const last = processes.at(-1);
    if (last === undefined) throw new Error(`${client} was never started`);
    return last;
  };
  await start();
  return {
    client,
    get process() {
      return current();
    },
    get starts() {
      return processes.length;
    },
    log: () => processes.flatMap(({ log }) => log),
    logOfRunning: () => processes.filter((each) => !ended.has(each)).flatMap(({ log }) => log),
    kill: () => current().kill(),
    tellWhenToDie: (text) => {
      writeFileSync(join(directory, 'die'), text);
    },
    setClock: async (text) => {
      writeFileSync(join(directory, 'clock'), text);
      current().signal('SIGUSR2');
      const read = join(directory, 'clock-read');
      await until(`${client} has read its clock`, RESTART_MS, () => {
        return readFileSync(read, 'utf8') === text;
      });
    },
    restarted: async (before) => {
      await until(`${client} is started again`, RESTART_MS, () => {
        if (failure !== undefined) throw new Error(`${client} did not start`, { cause: failure });
        return processes.length > before;
      });
      await current().ready();
    },
    ready: () => current().ready(),
    stop: async () => {
      stopped = true;
      await starting;
      const last = current();
      last.signal('SIGCONT');
      await last.stop();
    },
  };
}
