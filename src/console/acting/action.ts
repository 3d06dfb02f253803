// SPDX-License-Identifier: Apache-2.0
/** An action that a page offers: planned first, and run after the person confirms the plan. */
import type { Clock, Delay } from '#base/ports.ts';
import type { Client } from '#kube/client/client.ts';

/** The actions, by the names of their commands. */
export const ACTION_VERBS = [
  'approve',
  'deny',
  'prepare',
  'activate',
  'taint',
  'revoke',
  'restart',
] as const;
export type ActionVerb = (typeof ACTION_VERBS)[number];

/** The selection of an action in an address. */
export interface ActionChoice {
  readonly verb: ActionVerb;
  /** `csr/NAME` or `certificaterequest/NAME` with `in`, to approve or deny. */
  readonly subject?: string | undefined;
  readonly in?: string | undefined;
  /** Name of a ClusterSigner, for the other verbs. */
  readonly signer?: string | undefined;
  /** Fingerprint of a CA. */
  readonly ca?: string | undefined;
}

/** The plan of an action, as the page shows it. */
export interface ActionPlan {
  readonly verb: ActionVerb;
  /** Title, such as `Approve csr/alice`. */
  readonly title: string;
  /** The command that does the same. */
  readonly command: string;
  /** Lines that the command prints with `--dry-run`. */
  readonly lines: readonly string[];
  /** False if the plan writes nothing: it is refused, or there is nothing to do. */
  readonly isReady: boolean;
}

/**
 * The result of an action.
 *
 * - `outdated`: the state has changed since the plan, and nothing was written
 * - `failed`: the API server returned an error, or no answer arrived
 */
export interface ActionResult {
  readonly outcome: 'done' | 'refused' | 'outdated' | 'failed';
  readonly lines: readonly string[];
}

/** The input of a confirmed action. */
export interface Confirmation {
  /** The message of a decision, as the person wrote it. */
  readonly message: string;
  /** Reports one line of progress. */
  readonly progress: (line: string) => void;
  /** Ends a long action. */
  readonly signal: AbortSignal;
}

/** A plan, and the work that it plans. */
export interface PlannedAction {
  readonly plan: ActionPlan;
  /**
   * Reads the objects again, and writes only if they give the same plan.
   *
   * @throws KubeError of the API server
   */
  readonly run: (confirmation: Confirmation) => Promise<ActionResult>;
}

/** The dependencies of actions. */
export interface ActionInit {
  /** Sends requests as the person. */
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  /** The value of --propagation of the components. */
  readonly propagationSeconds: number;
}

/** Returns the result of a plan whose objects have changed. */
export function outdated(why: string): ActionResult {
  return {
    outcome: 'outdated',
    lines: [
      `the plan is out of date: ${why}`,
      'nothing was written; open the plan again to see what would happen now',
    ],
  };
}
