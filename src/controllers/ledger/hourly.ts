// SPDX-License-Identifier: Apache-2.0
/** What who leads does once an hour, in small transactions with pauses: an append waits for one of them at most. */
import { messageOf } from '../../errors.ts';
import type { Component } from '../../runtime/component/component.ts';

/** What became of a task. */
export interface TaskOutcome {
  /** False: it is tried again at the next turn, and not in an hour. */
  readonly done: boolean;
  /** Why it does not do its work; nothing where it does. */
  readonly fault?: string | undefined;
}

/** One task. */
export interface HourlyTask {
  /** What does not happen while it fails: `no record is removed`. */
  readonly affects: string;
  /** Is called at each turn, before it is known whether the hour is over. A rejection is a fault. */
  readonly turn?: () => Promise<void>;
  /** A rejection is a fault, and is tried again at the next turn. */
  readonly run: (signal: AbortSignal) => Promise<TaskOutcome>;
}

/** Tasks as the ledger runs them. */
export interface Hourly {
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Between two transactions of a task. */
export const PAUSE_MILLISECONDS = 100;
/** How often to look whether this replica leads, and whether an hour is over. */
const TURN_MILLISECONDS = 30_000;
const EVERY_MILLISECONDS = 3_600_000;

/** Runs tasks one after the other; the fault of one keeps no other from its work. */
export function createHourly(
  component: Pick<Component, 'clock' | 'delay' | 'log'>,
  leads: () => boolean,
  tasks: readonly HourlyTask[],
): Hourly {
  const all = tasks.map((task) => new Turns(component, task));
  return {
    warnings: () => all.flatMap((each) => each.warnings()),
    run: async (signal) => {
      while (!signal.aborted) {
        for (const each of all) if (leads()) await each.take(signal);
        await component.delay(TURN_MILLISECONDS, signal).catch(() => undefined);
      }
    },
  };
}

class Turns {
  readonly #component: Pick<Component, 'clock' | 'log'>;
  readonly #task: HourlyTask;
  #next = 0;
  #fault: string | undefined;

  constructor(component: Pick<Component, 'clock' | 'log'>, task: HourlyTask) {
    this.#component = component;
    this.#task = task;
  }

  warnings(): readonly string[] {
    return this.#fault === undefined ? [] : [`${this.#task.affects}: ${this.#fault}`];
  }

  async take(signal: AbortSignal): Promise<void> {
    const { clock } = this.#component;
    try {
      await this.#task.turn?.();
      if (clock() < this.#next) return;
      const { done, fault } = await this.#task.run(signal);
      this.#say(fault);
      if (done) this.#next = clock() + EVERY_MILLISECONDS;
    } catch (error) {
      this.#say(messageOf(error));
    }
  }

  #say(now: string | undefined): void {
    if (now !== undefined && now !== this.#fault) {
      this.#component.log.error({ error: now }, this.#task.affects);
    }
    this.#fault = now;
  }
}
