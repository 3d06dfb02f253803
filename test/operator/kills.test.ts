// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { differences, healed } from './healed.ts';
import { DESIRED, EXAMPLE, WAIT_MS, desiredOf, startStand, type Stand } from './stand.ts';

let stand: Stand;
before(async () => (stand = await startStand()));
after(() => stand.close());

/** Writes between two kills: one in each step that has more than a few objects. */
const BETWEEN = 20;
/** The longest that a killed leader's Lease holds up the next (--lease-duration is 5 s here). */
const LONG_MS = 2 * WAIT_MS;

/**
 * Starts the operator and kills it after some writes, again and again, until `done`. @returns how
 * often
 */
async function killUntil(done: () => Promise<boolean>): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const goal = (await stand.writes()).length + BETWEEN;
    const operator = await stand.start();
    const finished = await until('enough is written, or nothing is left', LONG_MS, async () => {
      if ((await stand.writes()).length >= goal) return 'written';
      return (await done()) ? 'done' : undefined;
    });
    await operator.kill();
    if (finished === 'done') return kills;
  }
}

const made = async (): Promise<boolean> =>
  (
    await differences(
      stand,
      DESIRED.filter(({ kind }) => !LATE.has(kind)),
    )
  ).length === 0;

/** Made once the rollouts are done, which takes pods. */
const LATE = new Set(['Service', 'PodDisruptionBudget', 'ClusterSigner']);

test('an installation that is killed again and again ends as one that is not', async (t) => {
  await stand.install();
  const kills = await killUntil(made);
  assert.ok(kills >= 3, `${kills}`);
  t.diagnostic(`killed ${kills} times`);
  const operator = await stand.start();
  await stand.condition('Progressing', 'False');
  await stand.condition('Degraded', 'False');
  await healed(stand);
  await operator.kill();
});

test('an upgrade that is killed in the middle ends as one that is not', async () => {
  const spec = { ...EXAMPLE.spec, version: '0.1.1' };
  await stand.install(spec);
  const operator = await stand.start();
  await until('the first Deployment is changed', LONG_MS, async () =>
    (await stand.writes()).some((write) => write.startsWith('patch deployments')),
  );
  await operator.kill();
  await stand.start();
  await stand.condition('Progressing', 'False');
  await until('the status names the version', LONG_MS, async () => {
    await stand.condition('Progressing', 'False');
    return (await stand.countersign())?.status?.version === '0.1.1';
  });
  await healed(stand, desiredOf(spec));
});
