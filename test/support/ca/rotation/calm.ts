// SPDX-License-Identifier: Apache-2.0
import { NOT_WAITING, HOUR, type Durations } from '../../../ca/rotation/simulation/scenario.ts';
import {
  START,
  Simulation,
  type SimulationInit,
} from '../../../ca/rotation/simulation/simulation.ts';

/** CAs of a month for leaves of a day. */
export const DURATIONS: Durations = {
  duration: 720 * 3_600,
  maxDuration: 24 * 3_600,
  renewBefore: undefined,
};

export interface CalmInit {
  /** Milliseconds. */
  readonly until?: number;
  /** Milliseconds that authority's watches are late. */
  readonly lag?: number;
  readonly durations?: Durations;
  readonly fate?: NonNullable<SimulationInit['fate']>;
  readonly plans?: NonNullable<SimulationInit['plans']>;
}

/** A world where nothing goes wrong but what is asked for, and every call in it: `PATCH /api/…`. */
export async function calm(
  init: CalmInit,
): Promise<{ readonly sim: Simulation; readonly calls: readonly string[] }> {
  const { until = START + HOUR, lag = 0, durations = DURATIONS, fate, plans = [] } = init;
  const calls: string[] = [];
  const sim = new Simulation({
    seed: 1,
    durations,
    weather: NOT_WAITING,
    propagationSeconds: 600,
    plans,
    fate: (name, method, path) => {
      calls.push(`${method} ${path}`);
      return fate === undefined ? 'well' : fate(name, method, path);
    },
  });
  sim.authority.lag = lag;
  await sim.run(until);
  return { sim, calls };
}
