// SPDX-License-Identifier: Apache-2.0
import { shellWord } from '#base/quote.ts';
import { applyChange } from '#operations/apply-change.ts';
import { impossible, type ChangePlan } from '#operations/change-plan.ts';
import { holderReads } from '#operations/holder-reads.ts';
import { readSignerState } from '#operations/read-signer-state.ts';
import { operationLines, type OperationReport } from '#operations/report.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { planVerb, type PlannedVerb } from '#operations/verbs/plan-verb.ts';
import {
  outdated,
  type ActionChoice,
  type ActionInit,
  type ActionResult,
  type PlannedAction,
} from './action.ts';

const TITLES: Readonly<Record<PlannedVerb, string>> = {
  prepare: 'Prepare a successor of the CA of',
  activate: 'Activate a CA of',
  taint: 'Taint a CA of',
  revoke: 'Revoke a CA of',
};

/** A plan, and the time for which it was made. */
interface SeenPlan {
  readonly plan: ChangePlan;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
}

/**
 * Plans a change of a ClusterSigner as `countersign authority … --dry-run` does. The API server
 * judges the person's permissions. It never overrides a refusal: for `--force`, use the command.
 *
 * @returns undefined if the choice names no signer, or no CA where the verb needs one
 * @throws KubeError of the API server
 */
export async function planCaChange(
  init: ActionInit,
  verb: PlannedVerb,
  { signer, ca }: ActionChoice,
): Promise<PlannedAction | undefined> {
  if (signer === undefined || (ca === undefined) !== (verb === 'prepare')) return undefined;
  const { client } = init;
  const planOf = async (state: SignerState): Promise<ChangePlan> =>
    planVerb(verb, [state, ca], holderReads(client, state));
  const readState = (): Promise<SignerState> => stateOf(init, signer);
  const change = { client, verb, readState, force: false };
  const seen: SeenPlan[] = [];
  const report = await applyChange({
    ...change,
    dryRun: true,
    plan: async (state) => {
      const plan = await planOf(state);
      seen.push({ plan, now: state.now });
      return plan;
    },
  });
  return {
    plan: {
      verb,
      title: `${TITLES[verb]} ${signer}`,
      command: `countersign authority ${verb} ${shellWord(signer)}${ca === undefined ? '' : ` ${shellWord(ca)}`}`,
      lines: operationLines(report),
      isReady: report.outcome === 'changed',
    },
    run: async () => {
      const held: boolean[] = [];
      const done = await applyChange({
        ...change,
        dryRun: false,
        plan: async (state) => {
          const plan = await stillHolds(state, seen.at(-1), planOf);
          held.push(plan !== undefined);
          return plan ?? impossible('the plan is out of date');
        },
      });
      return held.at(-1) === true ? resultOf(done) : outdated(`${signer} or its pods have changed`);
    },
  };
}

/** Reads a ClusterSigner by the name of the object, never by its signer name. */
export function stateOf(init: ActionInit, signer: string): Promise<SignerState> {
  return readSignerState(init, signer);
}

function resultOf(report: OperationReport): ActionResult {
  const outcome = report.outcome === 'refused' ? 'refused' : 'done';
  return { outcome, lines: operationLines(report) };
}

/**
 * Returns the plan of the current state, or undefined if the person saw another one. Plans contain
 * times, so it compares plans for the time of the plan that the person saw.
 */
async function stillHolds(
  state: SignerState,
  seen: SeenPlan | undefined,
  planOf: (state: SignerState) => Promise<ChangePlan>,
): Promise<ChangePlan | undefined> {
  if (seen === undefined) return undefined;
  const then = await planOf({ ...state, now: seen.now });
  if (JSON.stringify(then) !== JSON.stringify(seen.plan)) return undefined;
  const plan = await planOf(state);
  return plan.preflightErrors.length === 0 && plan.change !== undefined ? plan : undefined;
}
