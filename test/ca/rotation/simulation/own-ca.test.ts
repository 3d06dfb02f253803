// SPDX-License-Identifier: Apache-2.0
/**
 * Years of a CA of the user's own, who replaces it whenever he likes, and half of it first. The
 * laws are those of managed CAs: no gap, no leaf that somebody cannot verify, no trust cut.
 * `ROTATION=long` (make test-rotation) takes ten years of more worlds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../../oracle/dice.ts';
import { ownCas } from './own-ca.ts';
import { DAY, ROUGH } from './scenario.ts';
import { START, Simulation } from './simulation.ts';

const isLong = process.env['ROTATION'] === 'long';
const DAYS = isLong ? 3_652 : 240;
const WORLDS = isLong ? 6 : 2;

/** A signer that is restarted while a new CA spreads has to wait: docs/how-to/rotate-a-ca.md. */
const WEATHER = { ...ROUGH, restarts: 0, specChanges: 0, wishes: 0, distrusts: 0, wipes: 0 };

for (let seed = 1; seed <= WORLDS; seed += 1) {
  const maxDuration = [3_600, 86_400, 604_800][seed % 3] ?? 3_600;
  test(`own CA, world ${seed}, leaves of ${maxDuration / 3_600} h: no lost trust`, async () => {
    const durations = { duration: 8_760 * 3_600, maxDuration, renewBefore: undefined };
    const plans = await ownCas(new Dice(seed), START, START + DAYS * DAY);
    const sim = new Simulation({
      seed,
      durations,
      weather: WEATHER,
      propagationSeconds: 600,
      plans,
    });
    await sim.run(START + DAYS * DAY);
    assert.ok(sim.laws.leaves > DAYS / 7);
    const ours = sim.changes.filter(
      ({ kind, isManaged, at }) => kind === 'secret' && isManaged && at > START + DAY,
    );
    assert.deepEqual(ours, []);
  });
}
