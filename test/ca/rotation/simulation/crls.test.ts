// SPDX-License-Identifier: Apache-2.0
/**
 * Rotations of a signer with `profile.crl`: at each moment, each CA with living leaves that nobody
 * distrusts has a CRL that is fresh, and its key is there to sign the next. `ROTATION=long` takes
 * two years of eight worlds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../../oracle/dice.ts';
import { Crls } from './crls.ts';
import { oldIsDistrusted } from './incidents.ts';
import { NOT_WAITING, DAY, HOUR, ROUGH, randomDurations, type Durations } from './scenario.ts';
import { START, Simulation, type SimulationInit } from './simulation.ts';
import { allIsLost, damageStatus } from './wipes.ts';

const isLong = process.env['ROTATION'] === 'long';
const DAYS = isLong ? 730 : 60;
const WORLDS = Array.from({ length: isLong ? 8 : 2 }, (_, index) => index + 31);

const BRISK: Durations = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };

async function lived(
  init: Pick<SimulationInit, 'seed' | 'durations' | 'weather'> & Partial<SimulationInit>,
  days = DAYS,
): Promise<{ readonly crls: Crls; readonly sim: Simulation }> {
  const crls = new Crls(init.seed);
  const sim = new Simulation({
    propagationSeconds: 600,
    crl: true,
    authorityLooks: crls.looks,
    ...init,
  });
  crls.judge(sim);
  await sim.run(START + days * DAY);
  crls.mustBeFresh();
  return { crls, sim };
}

const damaged: SimulationInit['plans'] = [12.4, 25, 37.1, 50.9].map((day) => ({
  at: START + day * DAY,
  deed: (sim: Simulation): void => {
    damageStatus(sim, allIsLost);
    sim.excuse(4 * HOUR);
  },
}));

for (const seed of WORLDS) {
  const durations = seed % 2 === 1 ? BRISK : randomDurations(new Dice(seed));
  test(`world ${seed}, ${JSON.stringify(durations)}: each living leaf has a fresh CRL`, async () => {
    const weather = { ...ROUGH, wipes: 0 };
    const init = { seed, durations, weather, crossSigned: seed % 4 === 1, plans: damaged };
    const { crls } = await lived(init);
    // In two years the weather lengthens the lives of CAs; in the first sixty days some thirty
    // retire.
    if (durations === BRISK) assert.ok(crls.retired > 15, `${crls.retired}`);
  });
}

test('a rotation takes one write of the Secret more, to drop the previous CA’s key', async () => {
  const { sim } = await lived({ seed: 1, durations: BRISK, weather: NOT_WAITING });
  const [, , ...rotations] = sim.rotations.slice(0, -1);
  assert.ok(rotations.length >= 15);
  for (const writes of rotations) assert.deepEqual(writes, { secret: 3, signer: 3, bundle: 3 });
});

const keysOf = ({ world }: Simulation): readonly string[] =>
  Object.keys(world.objects.secret?.data ?? {}).filter((key) => key.startsWith('retired-'));

test('once its leaves have expired the key of a CA before is not in the Secret', async () => {
  const { sim } = await lived({ seed: 1, durations: BRISK, weather: NOT_WAITING }, 40);
  assert.ok(keysOf(sim).length <= 2, 'those of one CA');
});

test('a distrusted older CA’s key goes at once with its CRL, though its leaves live', async () => {
  const plans = [{ at: START + 2.5 * DAY, deed: oldIsDistrusted }];
  const { crls, sim } = await lived(
    { seed: 1, durations: BRISK, weather: NOT_WAITING, plans },
    2.4,
  );
  assert.equal(keysOf(sim).length, 2);
  const before = crls.listed.length;
  await sim.run(START + 2.5 * DAY + HOUR);
  assert.equal(sim.laws.distrusted.size, 1);
  assert.deepEqual(keysOf(sim), []);
  assert.deepEqual(
    crls.listed.filter((each) => sim.laws.distrusted.has(each)),
    [],
  );
  assert.equal(crls.listed.length, before - 1);
});

test('without profile.crl no key of a CA before stays, and those that were kept go', async () => {
  const durations = { ...BRISK, maxDuration: 86_400 };
  const never = new Simulation({
    seed: 1,
    durations,
    weather: NOT_WAITING,
    propagationSeconds: 600,
  });
  await never.run(START + 10 * DAY);
  assert.deepEqual(keysOf(never), []);
  const sim = new Simulation({ ...never.init, crl: true });
  await sim.run(START + 2.5 * DAY);
  assert.equal(keysOf(sim).length, 2);
  const { signer } = sim.world.objects;
  assert.ok(signer !== undefined);
  const { crl: _off, ...profile } = signer.spec.profile;
  sim.world.put('signer', { ...signer, spec: { ...signer.spec, profile } });
  await sim.run(START + 2.5 * DAY + HOUR);
  assert.deepEqual(keysOf(sim), []);
});
