// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isRunning, signal } from './pids.ts';
import { probe } from './probe.ts';
import { Hopeless, until } from './until.ts';

/** What it takes to start a component again; plain data, so that another process can do it. */
export interface ComponentSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly pidFile: string;
  /** Answers 200 once the component serves. */
  readonly readyUrl?: string;
}

const readyMilliseconds = 60_000;
// An API server with open watches drains them for many seconds after a SIGTERM.
const graceMilliseconds = 2_000;
const logTailCharacters = 2_000;

/** A process of the cluster. Not to be started and stopped from two places at once. */
export class Component {
  readonly spec: ComponentSpec;
  readonly directory: string;

  constructor(spec: ComponentSpec, directory: string) {
    this.spec = spec;
    this.directory = directory;
  }

  get name(): string {
    return this.spec.name;
  }

  /** Read from its file each time: the process may have been restarted by another one. */
  get pid(): number | undefined {
    if (!existsSync(this.spec.pidFile)) return undefined;
    const pid = Number(readFileSync(this.spec.pidFile, 'utf8'));
    return pid > 0 && isRunning(pid) ? pid : undefined;
  }

  /** Resolves once the component serves; rejects with the end of its log when it dies before. */
  async start(): Promise<void> {
    if (this.pid !== undefined) throw new Error(`${this.name} is running already`);
    await this.#spawn();
    const url = this.spec.readyUrl;
    await until(`${this.name} is ready`, readyMilliseconds, async () => {
      if (this.pid === undefined) throw new Hopeless(`${this.name} ended: ${this.logTail()}`);
      return url === undefined || (await probe(url, this.directory));
    });
  }

  /** Asks it to end, makes it end after a short grace, and resolves when it is gone. */
  async stop(): Promise<void> {
    const pid = this.pid;
    if (pid === undefined) return;
    signal(pid, 'SIGCONT');
    signal(pid, 'SIGTERM');
    await until(`${this.name} ends`, graceMilliseconds, () => !isRunning(pid)).catch(
      () => undefined,
    );
    await this.kill();
  }

  async kill(): Promise<void> {
    const pid = this.pid;
    if (pid !== undefined) {
      signal(pid, 'SIGKILL');
      await until(`${this.name} is gone`, readyMilliseconds, () => !isRunning(pid));
    }
    rmSync(this.spec.pidFile, { force: true });
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** SIGSTOP and SIGCONT make a component that hangs. */
  signal(name: NodeJS.Signals): void {
    if (this.pid === undefined) throw new Error(`${this.name} is not running`);
    this.signalIfRunning(name);
  }

  signalIfRunning(name: NodeJS.Signals): void {
    const pid = this.pid;
    if (pid !== undefined) signal(pid, name);
  }

  async #spawn(): Promise<void> {
    const log = openSync(this.spec.logFile, 'a');
    try {
      // Its own process group: Ctrl-C is for the launcher, which then ends all in order.
      const child = spawn(this.spec.command, this.spec.args, {
        cwd: this.directory,
        detached: true,
        env: { ...process.env, ...this.spec.env },
        stdio: ['ignore', log, log],
      });
      await once(child, 'spawn');
      child.unref();
      writeFileSync(this.spec.pidFile, String(child.pid));
    } finally {
      closeSync(log);
    }
  }

  logTail(): string {
    return readFileSync(this.spec.logFile, 'utf8').slice(-logTailCharacters);
  }
}
