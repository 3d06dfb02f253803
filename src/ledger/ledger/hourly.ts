// SPDX-License-Identifier: Apache-2.0
/**
 * Runs tasks of the leader once an hour, in small transactions with pauses, so that an append waits
 * for one of them at most.
 */
import { messageOf } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';

/** The result of a task. */
export interface TaskOutcome {
  /** False if the task must be tried again at the next turn, and not in an hour. */
  readonly done: boolean;
  /** Cause of a failure. Absent after a success. */
  readonly fault?: string | undefined;
}

/** One task. */
export interface HourlyTask {
  /** Consequence of a failure: `no record is removed`. */
  readonly impact: string;
  /** Called at each turn, even before the hour is over. A rejection is a fault. */
  readonly turn?: () => Promise<void>;
  /** Runs the task. A rejection is a fault, and the task is tried again at the next turn. */
  readonly run: (signal: AbortSignal) => Promise<TaskOutcome>;
}

/** The running tasks. */
export interface Hourly {
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Pause between two transactions of a task. */
export const PAUSE_MILLISECONDS = 100;
/** Interval between checks whether this replica leads and an hour is over. */
const TURN_MILLISECONDS = 30_000;
const EVERY_MILLISECONDS = 3_600_000;

/** Runs tasks one after the other. A fault of one does not prevent the others. */
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
    return this.#fault === undefined ? [] : [messages.hourlyFault(this.#task.impact, this.#fault)];
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
      this.#component.log.error({ error: now }, this.#task.impact);
    }
    this.#fault = now;
  }
}
