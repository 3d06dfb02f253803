// SPDX-License-Identifier: Apache-2.0
/**
 * What is broken on purpose is healed by what `check` and `explain` print, typed as it is printed.
 * Countersign is installed by `countersign manifests` and kubectl, or by `countersign install`.
 * test/helm and test/operator have the same table by the other ways of installing.
 */
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { carryOut } from '../support/advice/carry-out.ts';
import { FAULTS } from '../support/advice/faults.ts';
import { startAdviceStand, startServing, type AdviceStand } from '../support/advice/stand.ts';

const WAIT_MS = 240_000;
/** An even SEED installs by `countersign install`, an odd one by `countersign manifests`. */
const SEED = Number(process.env['SEED'] ?? 1);
const COMMAND =
  SEED % 2 === 0
    ? 'countersign install --values values.yaml'
    : 'countersign manifests --values values.yaml | kubectl apply -f -';

let stand: AdviceStand;
before(async () => {
  stand = await startAdviceStand();
  await until('everything is applied', WAIT_MS, async () => {
    // Kinds that the first objects define are served a moment later.
    await stand.type(COMMAND);
    return true;
  });
  await startServing(stand);
});
after(() => stand.close());

for (const [what, faults] of Object.entries(FAULTS))
  test(`faults of ${what}: each is named, and what is printed heals it`, () =>
    carryOut(stand, 'manifests', faults));
