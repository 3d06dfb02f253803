// SPDX-License-Identifier: Apache-2.0
/**
 * What is broken on purpose is healed by what `check` and `explain` print, typed as it is printed,
 * where Helm installed Countersign. The containers are faked: what is tested is what is printed.
 */
import { after, before, test } from 'node:test';
import { carryOut } from '../support/advice/carry-out.ts';
import { FAULTS } from '../support/advice/faults.ts';
import { startAdviceStand, startServing, type AdviceStand } from '../support/advice/stand.ts';
import { RELEASE } from './stand.ts';
import { buildHelm } from './tools/build.ts';

let stand: AdviceStand;
before(async () => {
  const helm = await buildHelm((line) => {
    console.error(line);
  });
  stand = await startAdviceStand();
  stand.shell.writeProgram('helm', `exec '${helm}' "$@"`);
  await stand.type(`helm install ${RELEASE} deploy/chart --values values.yaml`);
  await startServing(stand);
});
after(() => stand.close());

for (const [what, faults] of Object.entries(FAULTS))
  test(`faults of ${what}: each is named, and what is printed heals it`, () =>
    carryOut(stand, 'Helm', faults));
