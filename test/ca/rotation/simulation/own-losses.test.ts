// SPDX-License-Identifier: Apache-2.0
/**
 * CAs of the user's own whose Secret or status is lost, while he replaces them as he likes: what is
 * sent verifies, no trust is cut, and what was distrusted while the CA was managed does not come
 * back by a backup of its Secret. `ROTATION=long` (make test-rotation) takes two years of more
 * worlds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { Dice } from '../../../oracle/dice.ts';
import { activeIsDistrusted } from './incidents.ts';
import { begin, ownCas, secretOf } from './own-ca.ts';
import { ownLosses } from './own-losses.ts';
import { NOT_WAITING, DAY, ROUGH } from './scenario.ts';
import { START, Simulation } from './simulation.ts';

const isLong = process.env['ROTATION'] === 'long';
const DAYS = isLong ? 730 : 120;
const WORLDS = isLong ? 6 : 2;
const BRISK = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };

/** As in own-ca.test.ts; what is lost has plans of its own. */
const WEATHER = { ...ROUGH, restarts: 0, specChanges: 0, wishes: 0, distrusts: 0, wipes: 0 };

for (let seed = 1; seed <= WORLDS; seed += 1) {
  const maxDuration = [3_600, 86_400, 604_800][seed % 3] ?? 3_600;
  test(`own CA, world ${seed}, leaves of ${maxDuration / 3_600} h: each leaf verifies`, async () => {
    const durations = { duration: 8_760 * 3_600, maxDuration, renewBefore: undefined };
    const end = START + DAYS * DAY;
    const losses = ownLosses(new Dice(seed + 100), START, end);
    assert.ok(losses.length > 2);
    const plans = [...(await ownCas(new Dice(seed), START, end)), ...losses];
    const sim = new Simulation({
      seed,
      durations,
      weather: WEATHER,
      propagationSeconds: 600,
      plans,
    });
    let last = 0;
    sim.laws.onDelivery = ({ notBefore }) => (last = Math.max(last, notBefore));
    await sim.run(end);
    assert.ok(sim.laws.leaves > DAYS / 7);
    assert.ok(last > end - 2 * DAY - (maxDuration / 2) * 1_000, 'it signs again');
  });
}

for (const crossSigned of [false, true]) {
  test(`a distrusted CA${crossSigned ? ' or its certifier' : ''} never returns as own CA`, async () => {
    const dice = new Dice(7);
    const own = await secretOf('Own CA', START, dice);
    const kept: Secret[] = [];
    const keep = ({ world }: Simulation): void => {
      if (world.objects.secret !== undefined) kept.push(world.objects.secret);
    };
    const restore = (which: number) => (sim: Simulation) => {
      sim.world.put('secret', kept[which]);
      sim.excuse(3 * DAY);
    };
    const putOwn = (sim: Simulation): void => {
      sim.world.put('secret', own);
    };
    const at = (
      day: number,
      deed: (sim: Simulation) => void,
    ): { at: number; deed: typeof deed } => ({
      at: START + day * DAY,
      deed,
    });
    const plans = [
      at(1, keep),
      at(5, keep),
      at(5.1, activeIsDistrusted),
      at(6, (sim) => begin(sim, own)),
      at(7, restore(1)),
      at(8, putOwn),
      at(9, (sim) => {
        sim.world.put('secret', undefined);
        sim.excuse(3 * DAY);
      }),
      at(9.2, restore(1)),
      at(10, putOwn),
    ];
    const sim = new Simulation({
      seed: 3,
      durations: BRISK,
      weather: NOT_WAITING,
      propagationSeconds: 600,
      crossSigned,
      plans,
    });
    await sim.run(START + 7.9 * DAY);
    const [distrusted = ''] = sim.laws.distrusted;
    sim.laws.thief.check();
    await sim.run(START + 9.9 * DAY);
    sim.laws.thief.check();
    let last = 0;
    sim.laws.onDelivery = ({ notBefore }) => (last = Math.max(last, notBefore));
    await sim.run(START + 14 * DAY);
    assert.ok(last > START + 13 * DAY, 'his CA signs again');
    assert.notEqual(distrusted, '');
    sim.laws.thief.check();
    assert.ok(sim.laws.thief.leaves > 0);
    assert.ok(sim.laws.leaves > 14);
  });
}
