// SPDX-License-Identifier: Apache-2.0
/**
 * Rotations of a CA that a Vault signs. Vault is sealed for hours, its answers get lost, it returns
 * chains of another CA, and `authority` is restarted meanwhile: no gap, no lost trust, and no
 * certificate in vain but for these.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../../oracle/dice.ts';
import { DAY, NOT_WAITING, ROUGH } from './scenario.ts';
import { START, Simulation } from './simulation.ts';
import { SimulatedVault, UPSTREAM, type Troubles } from './upstream.ts';

const DAYS = process.env['ROTATION'] === 'long' ? 1_095 : 180;
/** A rotation is due five days before the longest leaf no longer fits. */
const durations = { duration: 30 * 86_400, maxDuration: 86_400, renewBefore: 5 * 86_400 };
const CALM: Troubles = { sealed: 0, lost: 0, foreign: 0 };

function simulate(seed: number, troubles: Troubles, isRough: boolean) {
  const vault = new SimulatedVault(troubles, new Dice(seed));
  const { restarts, outages, wishes, lostPercent } = ROUGH;
  const weather = isRough
    ? { ...NOT_WAITING, restarts, outages, wishes, lostPercent }
    : NOT_WAITING;
  const sim = new Simulation({
    seed,
    durations,
    weather,
    propagationSeconds: 600,
    upstream: UPSTREAM,
    authorityLooks: vault.looks,
  });
  vault.attach(sim);
  return { sim, vault };
}

const cas = ({ changes }: Simulation): number =>
  new Set(
    changes.flatMap(({ kind, object }) =>
      kind === 'signer'
        ? (
            (object as { status?: { authorities?: { fingerprint: string }[] } }).status
              ?.authorities ?? []
          ).map(({ fingerprint }) => fingerprint)
        : [],
    ),
  ).size;

test('each CA costs one certificate where nothing goes wrong', async () => {
  const { sim, vault } = simulate(1, CALM, false);
  await sim.run(START + DAYS * DAY);
  assert.ok(cas(sim) >= DAYS / 30, `${cas(sim)} CAs`);
  assert.equal(vault.signed, cas(sim));
  assert.ok(sim.laws.leaves > DAYS);
});

for (const seed of [1, 2, 3]) {
  test(`world ${seed} below a Vault: no gap, no lost trust, nothing signed in vain`, async () => {
    const { sim, vault } = simulate(seed, { sealed: 20, lost: 20, foreign: 30 }, true);
    await sim.run(START + DAYS * DAY);
    const { signed, lost, foreign, killed } = vault;
    assert.ok(cas(sim) >= DAYS / 30, `${cas(sim)} CAs`);
    assert.ok(lost > 0 && foreign > 0, JSON.stringify({ lost, foreign }));
    const most = cas(sim) + lost + foreign + killed;
    assert.ok(signed <= most, `${signed} signatures, and at most ${most}`);
    assert.ok(sim.laws.leaves > DAYS);
  });
}
