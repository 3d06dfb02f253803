// SPDX-License-Identifier: Apache-2.0
/**
 * Years of rotations on a simulated clock, by the components' own decisions and deeds. At every
 * moment each unexpired leaf verifies against the bundle, also as a reader sees it who lags by 374
 * s. `ROTATION=long` (make test-rotation) takes ten years of many worlds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../../oracle/dice.ts';
import { PortsConfigMap } from './ports-config-map.ts';
import { NOT_WAITING, DAY, ROUGH, randomDurations } from './scenario.ts';
import { START, Simulation } from './simulation.ts';

const isLong = process.env['ROTATION'] === 'long';
const DAYS = isLong ? 3_652 : 120;
/** How many worlds the long form has. */
const MANY = 20;
const FEW = isLong ? MANY : 3;
const worlds = Array.from({ length: FEW }, (_, index) => index + 1);

for (const seed of worlds) {
  const durations = randomDurations(new Dice(seed));
  test(`world ${seed}, ${JSON.stringify(durations)}: no gap and no lost trust`, async () => {
    const ports = new PortsConfigMap(seed);
    const sim = new Simulation({
      seed,
      durations,
      weather: ROUGH,
      propagationSeconds: 600,
      crossSigned: seed % 2 === 1,
      authorityLooks: ports.looks,
    });
    ports.judge(sim);
    await sim.run(START + DAYS * DAY);
    ports.mustBeWhole();
    assert.ok(sim.laws.leaves > DAYS);
    assert.ok(ports.losses > 0 && ports.writes > ports.losses);
  });
}

test('a rotation takes eight writes: two Secret, three status, three bundle', async () => {
  const durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
  const sim = new Simulation({ seed: 1, durations, weather: NOT_WAITING, propagationSeconds: 600 });
  await sim.run(START + 60 * DAY);
  const [, ...rotations] = sim.rotations.slice(0, -1);
  assert.ok(rotations.length >= 20, `${rotations.length} rotations`);
  for (const writes of rotations) {
    assert.deepEqual(writes, { secret: 2, signer: 3, bundle: 3 });
  }
});

test('cross-certificates add no write, and each CA after the second has one', async () => {
  const durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
  const common = { seed: 1, durations, weather: NOT_WAITING, propagationSeconds: 600 };
  const sim = new Simulation({ ...common, crossSigned: true });
  await sim.run(START + 60 * DAY);
  const [, ...rotations] = sim.rotations.slice(0, -1);
  for (const writes of rotations) {
    assert.deepEqual(writes, { secret: 2, signer: 3, bundle: 3 });
  }
  const { certified, leaves } = sim.laws.pinned;
  assert.equal(certified.size, sim.rotations.length - 1);
  assert.ok(leaves > certified.size);
});
