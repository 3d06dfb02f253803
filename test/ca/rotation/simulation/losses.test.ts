// SPDX-License-Identifier: Apache-2.0
/**
 * What is lost together, in a calm world, by ADR 24's table: the laws of the simulation hold
 * meanwhile, and leaves are signed again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distrust } from './incidents.ts';
import { NOT_WAITING, DAY, HOUR } from './scenario.ts';
import { START, Simulation } from './simulation.ts';
import { allIsLost, crossesAreLost, damageStatus, distrustIsLost } from './wipes.ts';

const DURATIONS = { duration: 259_200, maxDuration: 86_400, renewBefore: undefined };
const DAYS = 45;

type Deed = (sim: Simulation) => void;

const loseSecret: Deed = (sim) => {
  sim.world.put('secret', undefined);
  sim.excuse(4 * HOUR);
};
const loseStatus: Deed = (sim) => {
  damageStatus(sim, allIsLost);
  sim.excuse(4 * HOUR);
};
const authorityIsAway: Deed = (sim) => {
  sim.authority.restart(HOUR);
};
/** As a backup is restored into another cluster. */
const getNewUid: Deed = (sim) => {
  const { signer } = sim.world.objects;
  assert.ok(signer !== undefined);
  const { status: _lost, ...bare } = signer;
  damageStatus(sim, allIsLost);
  const uid = `restored-${sim.world.now}`;
  sim.world.put('signer', { ...bare, metadata: { ...bare.metadata, uid } });
  sim.excuse(4 * HOUR);
};
const loseRecords: Deed = (sim) => {
  damageStatus(sim, (status) => crossesAreLost(distrustIsLost(status) ?? status));
};

const LOSSES: Readonly<Record<string, readonly Deed[]>> = {
  'the Secret': [loseSecret],
  'the Secret and the whole status': [loseSecret, loseStatus],
  'the whole status and the Secret, and the attester looks first': [
    authorityIsAway,
    loseStatus,
    loseSecret,
  ],
  'the whole status, and the attester looks first': [authorityIsAway, loseStatus],
  'both records of trust, and the attester looks first': [authorityIsAway, loseRecords],
  'Secret, status and UID': [loseSecret, getNewUid],
};

for (const [what, deeds] of Object.entries(LOSSES)) {
  for (const crossSigned of [false, true]) {
    test(`${what} lost${crossSigned ? ', cross-signed' : ''}: leaves keep their trust`, async () => {
      const plans = [9, 20.3, 31.7].map((day) => ({
        at: START + day * DAY,
        deed: (sim: Simulation): void => {
          for (const deed of deeds) deed(sim);
        },
      }));
      const sim = new Simulation({
        seed: 5,
        durations: DURATIONS,
        weather: NOT_WAITING,
        propagationSeconds: 600,
        crossSigned,
        plans,
      });
      let last = 0;
      sim.laws.onDelivery = ({ notBefore }) => {
        last = notBefore;
      };
      await sim.run(START + DAYS * DAY);
      assert.ok(
        last > START + (DAYS - 3) * DAY,
        `the last leaf is of ${new Date(last).toISOString()}`,
      );
    });
  }
}

for (const [what, deeds] of Object.entries(LOSSES)) {
  test(`${what} lost: what the spec distrusts stays out of trust`, async () => {
    const distrustActive: Deed = (sim) => {
      const [active] = sim.world.objects.signer?.status?.authorities ?? [];
      assert.ok(active !== undefined);
      distrust(sim, active.fingerprint, 4 * HOUR);
    };
    const sim = new Simulation({
      seed: 6,
      durations: DURATIONS,
      weather: NOT_WAITING,
      propagationSeconds: 600,
      plans: [
        { at: START + 9 * DAY, deed: distrustActive },
        ...[9.1, 12].map((day) => ({
          at: START + day * DAY,
          deed: (at: Simulation): void => {
            for (const deed of deeds) deed(at);
          },
        })),
      ],
    });
    for (const day of [9.5, 12.5, 20]) {
      await sim.run(START + day * DAY);
      assert.equal(sim.laws.distrusted.size, 1);
      sim.laws.bundleHasNoDistrusted();
    }
  });
}
