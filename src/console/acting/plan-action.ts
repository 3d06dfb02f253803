// SPDX-License-Identifier: Apache-2.0
import {
  ACTION_VERBS,
  type ActionChoice,
  type ActionInit,
  type ActionVerb,
  type PlannedAction,
} from './action.ts';
import { planCaChange } from './ca-change.ts';
import { planDecision } from './decision.ts';
import { planRestart } from './restart.ts';

/** Returns the choice of an address, or undefined if it names no verb. */
export function actionChoiceOf(query: URLSearchParams): ActionChoice | undefined {
  const verb = ACTION_VERBS.find((each) => each === query.get('verb'));
  if (verb === undefined) return undefined;
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  return { verb, subject: text('subject'), in: text('in'), signer: text('signer'), ca: text('ca') };
}

/**
 * Plans an action, and writes nothing.
 *
 * @returns undefined if the choice lacks the object of the verb
 * @throws KubeError of the API server
 */
export function planAction(
  init: ActionInit,
  choice: ActionChoice,
): Promise<PlannedAction | undefined> {
  return PLANS[choice.verb](init, choice);
}

type PlanVerb = (init: ActionInit, choice: ActionChoice) => Promise<PlannedAction | undefined>;

const PLANS: Readonly<Record<ActionVerb, PlanVerb>> = {
  approve: (init, choice) => planDecision(init, 'approve', choice),
  deny: (init, choice) => planDecision(init, 'deny', choice),
  prepare: (init, choice) => planCaChange(init, 'prepare', choice),
  activate: (init, choice) => planCaChange(init, 'activate', choice),
  taint: (init, choice) => planCaChange(init, 'taint', choice),
  revoke: (init, choice) => planCaChange(init, 'revoke', choice),
  restart: planRestart,
};
