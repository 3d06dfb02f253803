// SPDX-License-Identifier: Apache-2.0
/** Restarts that pod-refresher plans, as the page shows them. Pure. */

/** One workload with an old certificate, or with an unknown state. */
export interface PlannedRestart {
  /** Kind, namespace and name. */
  readonly workload: string;
  /** `now`, a time, or the cause of the wait. */
  readonly when: string;
  readonly why: string;
}

/** The planned restarts, and the number of opted-in workloads that are up to date. */
export interface RestartPlan {
  readonly planned: readonly PlannedRestart[];
  readonly current: number;
}

/** The data of the page Restarts. */
export interface RestartsModel {
  readonly rows: readonly PlannedRestart[];
  readonly total: number;
  readonly from: number;
  readonly current: number;
}

/** Rows of one page. */
export const RESTARTS_A_PAGE = 100;

/** Returns the rows of a page, in the order of the plan. */
export function restartsModel({ planned, current }: RestartPlan, from: number): RestartsModel {
  const rows = planned.slice(from, from + RESTARTS_A_PAGE);
  return { rows, total: planned.length, from, current };
}
