// SPDX-License-Identifier: Apache-2.0
import { until } from '../../../cluster/until.ts';
import {
  startComponent,
  type ComponentName,
  type ComponentOptions,
  type ComponentProcess,
} from '../../../support/cluster/component-process.ts';

const TAKEN_OVER_MS = 120_000;

/** Two replicas of one component: one is killed, the other goes on alone until it is revived. */
export class Replicas {
  readonly name: ComponentName;
  /** What all processes that there ever were logged. */
  readonly processes: ComponentProcess[] = [];
  readonly #options: Omit<ComponentOptions, 'name'>;
  #alive: readonly ComponentProcess[] = [];

  constructor(name: ComponentName, options: Omit<ComponentOptions, 'name'>) {
    this.name = name;
    this.#options = options;
  }

  get alive(): readonly ComponentProcess[] {
    return this.#alive;
  }

  async start(): Promise<void> {
    const missing = Array.from({ length: 2 - this.#alive.length }, async () => {
      const started = await startComponent({ ...this.#options, name: this.name });
      this.processes.push(started);
      this.#alive = [...this.#alive, started];
    });
    await Promise.all(missing);
  }

  /** SIGKILL for the one that leads, where one does; else for the elder. */
  async kill(): Promise<void> {
    const victim = await this.#victim();
    this.#alive = this.#alive.filter((each) => each !== victim);
    await victim.kill();
  }

  /** A Pod in the place of the one that was killed. */
  async revive(): Promise<void> {
    await this.start();
    await this.ready();
  }

  async ready(): Promise<void> {
    await Promise.all(this.#alive.map((each) => each.ready(TAKEN_OVER_MS)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#alive.map((each) => each.stop()));
  }

  async #victim(): Promise<ComponentProcess> {
    const shared = this.name !== 'authority' && this.name !== 'attester';
    const [first] = this.#alive;
    if (first === undefined) throw new Error(`no ${this.name} is alive`);
    if (shared) return first;
    return until(`an ${this.name} leads`, TAKEN_OVER_MS, async () => {
      for (const each of this.#alive) {
        if (/^countersign_leader\{[^}]*\} 1$/m.test(await each.metrics())) return each;
      }
      return undefined;
    });
  }
}
