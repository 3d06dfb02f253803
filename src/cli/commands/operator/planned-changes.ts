// SPDX-License-Identifier: Apache-2.0
/**
 * The changes that an operator would make, and their text in `plan`. This module has no side
 * effects.
 */
import { printable } from '#base/quote.ts';
import type { ObjectPlan } from '#kube/apply/objects/plan-object.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { formerOwnerOf, isAdopted, type Owner } from '#kube/apply/objects/mark.ts';

/** The result that `-o json` and `-o yaml` print. */
export interface PlanReport {
  /** Reason why the operator would reject the spec. The other fields are then empty. */
  readonly refused?: { readonly reason: string; readonly message: string };
  readonly changes: readonly PlannedChange[];
  /** Number of objects in their desired state. */
  readonly same: number;
}

/** One object that differs from its desired state. */
export interface PlannedChange {
  readonly action: 'make' | 'change' | 'remake' | 'clean' | 'adopt' | 'report' | 'remove';
  /** Title, such as `Deployment countersign-system/countersign-signer`. */
  readonly object: string;
  /** Paths of the fields that differ. */
  readonly paths?: readonly string[];
  /** Reason why the operator does not change it. */
  readonly problem?: string;
  /** Former owner of an adopted object, such as `Helm release countersign`. */
  readonly from?: string;
  /** An adopted object is deleted with the singleton from then on. */
  readonly owned?: boolean;
}

/** Width of the actions, which aligns the objects. */
const WIDTH = 'change '.length;

/** Returns the text of `plan`: a line for each object, and the effects of adoption in advance. */
export function planText({ refused, changes, same }: PlanReport): string {
  if (refused !== undefined) {
    return `${printable(`refused, nothing would change: ${refused.reason}: ${refused.message}`)}\n`;
  }
  const lines = changes.map(({ action, object, paths = [], problem, from }) => {
    const detail = paths.length === 0 ? '' : `  ${paths.join(' ')}`;
    const former = from === undefined ? '' : `  from ${from}`;
    return printable(`${action.padEnd(WIDTH)} ${problem ?? object}${detail}${former}`);
  });
  const owned = changes.filter((each) => each.owned === true).length;
  const warning =
    owned === 0
      ? []
      : [
          `WARNING: ${owned} adopted objects belong to this object from then on: deleting it deletes them. Objects with keys, records or trust stay.`,
        ];
  return [...lines, ...warning, `${changes.length} to change, ${same} as desired`, ''].join('\n');
}

const ACTIONS: Readonly<Record<ObjectPlan['action'], PlannedChange['action']>> = {
  create: 'make',
  apply: 'change',
  recreate: 'remake',
  correct: 'clean',
  none: 'report',
};

/** Returns the change that the operator would make to an object, or undefined. */
export function plannedChange(
  { action, desired, paths, problem }: ObjectPlan,
  live: ManagedObject | undefined,
  owner: Owner,
): PlannedChange | undefined {
  const object = titleOf(desired);
  // An object that the operator does not change has a problem, and no changes.
  if (problem !== undefined) return { action: 'report', object, problem };
  if (action === 'none') return undefined;
  if (live !== undefined && !isAdopted(live, owner)) {
    const { owned } = ruleOf(desired);
    return { action: 'adopt', object, from: formerOwnerOf(live), owned };
  }
  return { action: ACTIONS[action], object, ...(paths.length === 0 ? {} : { paths }) };
}
