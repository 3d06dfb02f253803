// SPDX-License-Identifier: Apache-2.0
/**
 * What is broken on purpose is healed by the operator where it manages what is broken, and else by
 * what `check` and `explain` print, typed as it is printed.
 */
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { operatorManifests } from '#install/operator/installed.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { allHealed, allNamed, breakAll, carryOut } from '../support/advice/carry-out.ts';
import type { Fault } from '../support/advice/fault.ts';
import { FAULTS } from '../support/advice/faults.ts';
import {
  VALUES,
  startAdviceStand,
  startServing,
  type AdviceStand,
} from '../support/advice/stand.ts';
import { apply } from '../support/cluster/apply.ts';
import { EXAMPLE, RELEASE } from './stand.ts';

const ROOT = join(import.meta.dirname, '../..');
const INSTALLED_MS = 240_000;
const SPEC = { ...EXAMPLE.spec, ...VALUES };

let stand: AdviceStand;
before(async () => {
  stand = await startAdviceStand();
  const { cluster } = stand;
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
  await established(cluster, 'crd/countersigns.operator.countersign.dev');
  await apply(cluster, ...operatorManifests(SPEC, RELEASE));
  await apply(cluster, { ...EXAMPLE, spec: SPEC });
  await until('the definitions are there', INSTALLED_MS, async () => {
    await stand.follow();
    await cluster.kubectl(['get', 'crd', 'clustersigners.countersign.dev']);
    return true;
  });
  await startServing(stand);
});
after(() => stand.close());

const AWAY: Fault = {
  name: 'the operator is scaled to 0',
  broken: 'kubectl -n countersign-system scale deployment countersign-operator --replicas=0',
  named: /^operator-installs: countersign\/cluster: no replica of operator holds a Lease/,
};

const isHealed = ({ healsBy = [] }: Fault): boolean => healsBy.includes('the operator');

for (const [what, all] of Object.entries(FAULTS)) {
  const faults = all.filter(({ ways }) => ways?.includes('the operator') ?? true);
  const managed = faults.filter((each) => isHealed(each) && each.named !== undefined);
  const others = faults.filter((each) => !managed.includes(each));
  if (managed.length > 0)
    test(`faults of ${what}: each is named, its command repairs it, and operator does too`, async () => {
      await breakAll(stand, [AWAY]);
      await allNamed(stand, [AWAY]);
      await breakAll(stand, managed);
      await allNamed(stand, managed);
      await carryOut(stand, 'the operator', [AWAY, ...managed.map(withoutBreak)]);
      await allHealed(stand, managed);
    });
  if (others.length > 0)
    test(`faults of ${what}: each is named, and what is printed heals it`, () =>
      carryOut(stand, 'the operator', others));
}

/** It is broken already. */
function withoutBreak(fault: Fault): Fault {
  return { ...fault, broken: 'true' };
}
