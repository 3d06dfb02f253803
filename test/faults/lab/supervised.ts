// SPDX-License-Identifier: Apache-2.0
import {
  startComponent,
  type ComponentOptions,
  type ComponentProcess,
  type LogLine,
} from '../../support/component-process.ts';

/** A component that is started anew whenever it was killed, as a Deployment does. */
export interface Supervised {
  /** The door that it uses. */
  readonly client: string;
  /** The process of now. */
  readonly process: ComponentProcess;
  /** What all its processes logged, oldest first. */
  log(): readonly LogLine[];
  /** SIGKILL; resolves when it is gone. The next one starts by itself. */
  kill(): Promise<void>;
  /** SIGTERM, then a new process with these changes; resolves when it serves HTTP. */
  restart(changes?: Partial<ComponentOptions>): Promise<void>;
  /** Resolves when the process of now is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export async function supervise(client: string, init: ComponentOptions): Promise<Supervised> {
  let options = init;
  const processes = [await startComponent(options)];
  /** Ends when the next process serves. */
  let starting: Promise<unknown> = Promise.resolve();
  let stopped = false;

  const current = (): ComponentProcess => {
    const last = processes.at(-1);
    if (last === undefined) throw new Error(`${client} was never started`);
    return last;
  };

  function startNext(): Promise<void> {
    const next = starting.then(async () => {
      if (!stopped) processes.push(await startComponent(options));
    });
    // Whoever awaits it hears of it; a kill does not.
    starting = next.catch(() => undefined);
    return next;
  }

  return {
    client,
    get process() {
      return current();
    },
    log: () => processes.flatMap(({ log }) => log),
    kill: async () => {
      await current().kill();
      void startNext().catch(() => undefined);
    },
    restart: async (changes = {}) => {
      await starting;
      options = { ...options, ...changes };
      await current().stop();
      await startNext();
    },
    ready: async () => {
      await starting;
      await current().ready();
    },
    stop: async () => {
      stopped = true;
      await starting;
      const last = current();
      last.signal('SIGCONT');
      await last.stop();
    },
  };
}
