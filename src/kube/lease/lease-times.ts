// SPDX-License-Identifier: Apache-2.0

/** How long a Lease counts, and how its holder sees to it that it is renewed in time. */
export interface LeaseTimes {
  /** `spec.leaseDurationSeconds`: others wait for so long after the last change that they saw. */
  readonly durationSeconds: number;
  /**
   * Milliseconds after the last successful renewal was sent for which the holder acts on it. Shorter
   * than the duration: clocks may run at rates that differ by the quotient of the two.
   */
  readonly deadlineMs: number;
  /** Milliseconds between renewals, and between attempts that failed. */
  readonly periodMs: number;
}

/** As kube-controller-manager's `--leader-elect-lease-duration`. */
export const DEFAULT_LEASE_SECONDS = 15;
/** Below, a slow API server alone would end every term. */
export const MIN_LEASE_SECONDS = 3;

/** In the proportions of client-go's defaults: 15 s, acted on for 10 s, renewed every 2 s. */
export function leaderTimes(durationSeconds: number): LeaseTimes {
  return {
    durationSeconds,
    deadlineMs: (durationSeconds * 1000 * 2) / 3,
    periodMs: (durationSeconds * 1000 * 2) / 15,
  };
}

/**
 * Members of a group renew every 3 s of 15: one that is taken for gone by mistake costs work that is
 * done twice, never a wrong write, so five tries are enough.
 */
export function memberTimes(durationSeconds: number): LeaseTimes {
  return { durationSeconds, deadlineMs: durationSeconds * 1000, periodMs: durationSeconds * 200 };
}
