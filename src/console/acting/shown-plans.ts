// SPDX-License-Identifier: Apache-2.0
import type { Delay, Monotonic, Random } from '#base/ports.ts';
import type { ActionPlan, ActionResult, PlannedAction } from './action.ts';

/** An action that a person confirmed. */
export interface StartedAction {
  readonly plan: ActionPlan;
  /** Newest last. */
  readonly progress: readonly string[];
  /** Undefined while it runs. */
  readonly result: ActionResult | undefined;
  /** Token of the form that stops it. */
  readonly stopToken: string;
}

/** The dependencies of {@link ShownPlans}. */
export interface ShownPlansInit {
  readonly random: Random;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  /** Ends running actions. */
  readonly signal: AbortSignal;
  /** Returns the text of an error of an action, for people. */
  readonly failureText: (error: unknown) => string;
}

const TOKEN_BYTES = 32;
/** Unconfirmed plans in memory, for the tabs of one person. The oldest one is removed first. */
const MAX_PLANS = 50;
/** Results in memory, so that the page of a plan that was confirmed leads to its result. */
const MAX_RESULTS = 500;
/** A plan expires after this time without a confirmation. */
const CONFIRM_WITHIN_MS = 10 * 60_000;
/** Time that a confirmation waits for the result. The page of the result shows the rest. */
const RESULT_WAIT_MS = 3_000;
const RESULT_STEP_MS = 25;
const MAX_PROGRESS = 100;

interface ShownPlan {
  readonly action: PlannedAction;
  readonly shownAt: number;
  /** The name of the result in its address. It confirms nothing. */
  readonly resultId: string;
  run?: Run;
}

class Run implements StartedAction {
  readonly plan: ActionPlan;
  readonly stopToken: string;
  readonly progress: string[] = [];
  readonly stop = new AbortController();
  result: ActionResult | undefined;

  constructor(plan: ActionPlan, stopToken: string) {
    this.plan = plan;
    this.stopToken = stopToken;
  }
}

/**
 * The plans that the pages of one session showed. A token that only such a page has confirms its
 * plan. The first confirmation runs it, and each later one leads to the same result.
 */
export class ShownPlans {
  readonly #init: ShownPlansInit;
  /** Plans by their token, oldest first. */
  readonly #plans = new Map<string, ShownPlan>();

  constructor(init: ShownPlansInit) {
    this.#init = init;
  }

  /** Remembers a plan. @returns the token that confirms it */
  show(action: PlannedAction): string {
    const token = this.#word();
    this.#plans.set(token, { action, shownAt: this.#init.monotonic(), resultId: this.#word() });
    this.#forget(MAX_PLANS, ({ run }) => run === undefined);
    this.#forget(MAX_RESULTS, ({ run }) => run?.result !== undefined);
    return token;
  }

  /** Removes the oldest of these plans beyond a limit. */
  #forget(limit: number, isOne: (shown: ShownPlan) => boolean): void {
    const all = [...this.#plans].filter(([, shown]) => isOne(shown));
    for (const [token] of all.slice(0, Math.max(0, all.length - limit))) this.#plans.delete(token);
  }

  /**
   * Runs a plan once, and waits for its result for a few seconds.
   *
   * @returns the ID of the result, or undefined for a token that no recent page has
   */
  async confirm(token: string, message: string): Promise<string | undefined> {
    const shown = this.#plans.get(token);
    if (shown === undefined || !shown.action.plan.isReady) return undefined;
    const isLate = this.#init.monotonic() - shown.shownAt > CONFIRM_WITHIN_MS;
    if (shown.run === undefined && isLate) return undefined;
    if (shown.run === undefined) {
      shown.run = new Run(shown.action.plan, this.#word());
      void this.#start(shown.action, shown.run, message);
    }
    const until = this.#init.monotonic() + RESULT_WAIT_MS;
    while (shown.run.result === undefined && this.#init.monotonic() < until) {
      await this.#init.delay(RESULT_STEP_MS);
    }
    return shown.resultId;
  }

  /** Returns a started action by the ID of its result. */
  started(resultId: string): StartedAction | undefined {
    return [...this.#plans.values()].find((each) => each.resultId === resultId)?.run;
  }

  /** Ends an action early. @returns the ID of its result, or undefined for an unknown token */
  stop(token: string): string | undefined {
    const found = [...this.#plans.values()].find(({ run }) => run?.stopToken === token);
    found?.run?.stop.abort();
    return found?.resultId;
  }

  async #start(action: PlannedAction, run: Run, message: string): Promise<void> {
    const signal = AbortSignal.any([run.stop.signal, this.#init.signal]);
    const progress = (line: string): void => {
      run.progress.push(line);
      if (run.progress.length > MAX_PROGRESS) run.progress.shift();
    };
    run.result = await action
      .run({ message, progress, signal })
      .catch((error: unknown): ActionResult => {
        return { outcome: 'failed', lines: [this.#init.failureText(error)] };
      });
  }

  #word(): string {
    return Buffer.from(this.#init.random(TOKEN_BYTES)).toString('base64url');
  }
}
