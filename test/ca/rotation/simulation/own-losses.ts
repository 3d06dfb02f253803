// SPDX-License-Identifier: Apache-2.0
/** What is lost of a CA of the user's own: its Secret, for a while; its status; or both. */
import type { Dice } from '../../../oracle/dice.ts';
import { DAY, HOUR, MINUTE } from './scenario.ts';
import type { Simulation, SimulationInit } from './simulation.ts';
import { DISTRUST_GRACE_MS } from './thief.ts';
import { allIsLost, damageStatus } from './wipes.ts';

type Plans = NonNullable<SimulationInit['plans']>;

const LONGEST_MS = 40 * DAY;
/** He notices, or does not hurry. */
const LONGEST_ABSENCE_MS = 4 * HOUR;
/** A CA that is back signs once its anchor is published and has spread. */
const SETTLED_MS = HOUR + DISTRUST_GRACE_MS;

/** One loss after each while, from a day after `start`, by dice. */
export function ownLosses(dice: Dice, start: number, end: number): Plans {
  const plans: Plans[number][] = [];
  const kinds = [secretIsAway, secretAndStatus, statusIsLost];
  for (let at = start + DAY; ;) {
    at += DAY + dice.roll(LONGEST_MS);
    if (at >= end - 2 * DAY) return plans;
    const absence = MINUTE + dice.roll(LONGEST_ABSENCE_MS);
    const loss = dice.of(kinds);
    plans.push({ at, deed: (sim) => loss(sim, absence) });
  }
}

/** Whoever deleted it puts back what it was, unless a CA that he made meanwhile is there. */
function secretIsAway(sim: Simulation, absence: number): void {
  const { secret } = sim.world.objects;
  if (secret === undefined) return;
  sim.world.put('secret', undefined);
  sim.excuse(absence + SETTLED_MS);
  sim.later(sim.world.now + absence, () => {
    if (sim.world.objects.secret === undefined) sim.world.put('secret', secret);
  });
}

function statusIsLost(sim: Simulation): void {
  damageStatus(sim, allIsLost);
  sim.excuse(SETTLED_MS);
}

function secretAndStatus(sim: Simulation, absence: number): void {
  secretIsAway(sim, absence);
  statusIsLost(sim);
}
