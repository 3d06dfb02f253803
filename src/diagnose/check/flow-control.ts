// SPDX-License-Identifier: Apache-2.0
/** The check of the components' share of the API server. Pure: facts in, outcomes out. */
import { specDifferences } from '#kube/apply/objects/plan-object.ts';
import { type ManagedObject, toManagedObject } from '#kube/apply/objects/managed-object.ts';
import { flowControlOf } from '#install/workloads/availability.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, differingFields, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { deployAgain } from './installer.ts';

/** `flow-control-equal` */
export function checkFlowControl(facts: InstallationFacts): readonly Outcome[] {
  const { flowControl, deployments, namespace, installer } = facts;
  // Without Deployments, the components run elsewhere and need no flow schema.
  if (!('value' in deployments) || deployments.value.length === 0)
    return [ok('no component runs as a Deployment in this namespace')];
  const wanted = flowControlOf(namespace).map(toManagedObject);
  return whereSeen(flowControl, (found) =>
    allWell(
      wanted.flatMap((each) => {
        const live = found.find(({ kind }) => kind === each.kind);
        const why = live === undefined ? 'it does not exist' : differenceText(each, live);
        if (why === undefined) return [];
        const subject = `${each.kind.toLowerCase()}/${each.metadata.name}`;
        const effect = 'under load, other clients of the API server delay the components';
        return [warning(`${why}: ${effect}`, deployAgain(installer), subject)];
      }),
      'the components have their own share of the API server',
    ),
  );
}

function differenceText(wanted: ManagedObject, live: ManagedObject): string | undefined {
  const fields = differingFields(specDifferences(wanted, live));
  return fields === undefined ? undefined : `${fields} is not what Countersign installs`;
}
