// SPDX-License-Identifier: Apache-2.0
/**
 * Years of rotations on a simulated clock, by the components' own decisions and deeds. At every moment
 * each unexpired leaf verifies against the bundle, also as a reader sees it who lags by 374 s.
 * `ROTATION=long` (make test-rotation) takes ten years of many worlds. `ROTATION_PART=<commit>` (make
 * test-rotation-part) takes ten years of four of them, which the hash of the commit chooses.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../oracle/dice.ts';
import { PortsConfigMap } from './ports-config-map.ts';
import { CALM, DAY, ROUGH, randomDurations } from './scenario.ts';
import { START, Simulation } from './simulation.ts';

const isLong = process.env['ROTATION'] === 'long';
const part = process.env['ROTATION_PART'];
const DAYS = isLong || part !== undefined ? 3_652 : 120;
/** How many worlds the long form has. */
const MANY = 20;
const FEW = isLong ? MANY : 3;
const worlds =
  part === undefined ? Array.from({ length: FEW }, (_, index) => index + 1) : chosenBy(part);

/** Four different worlds: each two hexadecimal digits of a hash choose one of those that are left. */
function chosenBy(hash: string): readonly number[] {
  const left = Array.from({ length: MANY }, (_, index) => index + 1);
  const digits = [0, 2, 4, 6].map((at) => Number.parseInt(hash.slice(at, at + 2), 16));
  return digits.flatMap((number) => left.splice(number % left.length, 1));
}

for (const seed of worlds) {
  const durations = randomDurations(new Dice(seed));
  test(`world ${seed}, ${JSON.stringify(durations)}: no gap and no lost trust, whatever is lost, killed or misconfigured`, async () => {
    const ports = new PortsConfigMap(seed);
    const sim = new Simulation({
      ...{ seed, durations, weather: ROUGH, propagationSeconds: 600 },
      ...{ crossSigned: seed % 2 === 1, authorityLooks: ports.looks },
    });
    ports.judge(sim);
    await sim.run(START + DAYS * DAY);
    ports.mustBeWhole();
    assert.ok(sim.laws.leaves > DAYS);
    assert.ok(ports.losses > 0 && ports.writes > ports.losses);
  });
}

test('every rotation takes seven writes: two of the Secret, three of the status, two of the bundle', async () => {
  const durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
  const sim = new Simulation({ seed: 1, durations, weather: CALM, propagationSeconds: 600 });
  await sim.run(START + 60 * DAY);
  const [, ...rotations] = sim.rotations.slice(0, -1);
  assert.ok(rotations.length >= 20, `${rotations.length} rotations`);
  for (const writes of rotations) {
    assert.deepEqual(writes, { secret: 2, signer: 3, bundle: 2 });
  }
});

test('with cross-certificates a rotation takes as many writes, and each CA after the second is certified by the previous one', async () => {
  const durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
  const common = { seed: 1, durations, weather: CALM, propagationSeconds: 600 };
  const sim = new Simulation({ ...common, crossSigned: true });
  await sim.run(START + 60 * DAY);
  const [, ...rotations] = sim.rotations.slice(0, -1);
  for (const writes of rotations) {
    assert.deepEqual(writes, { secret: 2, signer: 3, bundle: 2 });
  }
  const { certified, leaves } = sim.laws.pinned;
  assert.equal(certified.size, sim.rotations.length - 1);
  assert.ok(leaves > certified.size);
});
