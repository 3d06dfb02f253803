// SPDX-License-Identifier: Apache-2.0

/** The verdict of a pass on one workload. */
export type RestartVerdict =
  /** Its template records its certificates, or all its pods started after they were written. */
  | {
      readonly kind: 'current';
      /** Time at which the verdict may change without an event. */
      readonly until?: number;
    }
  /** No change is known, but some facts are unknown. */
  | { readonly kind: 'unknown'; readonly message: string; readonly until?: number }
  | { readonly kind: 'restarted' }
  /**
   * `until` in milliseconds since the epoch, if it is known. `isOverdue`: the deadline of the
   * restart has passed, and the previous certificate may expire in use.
   */
  | {
      readonly kind: 'waiting';
      readonly reason: WaitReason;
      readonly until?: number | undefined;
      readonly isOverdue?: boolean;
    }
  /** A PodDisruptionBudget allows no disruption. `isOverdue` as for `waiting`. */
  | { readonly kind: 'blocked'; readonly budget: string; readonly isOverdue: boolean }
  /** A changed template would not replace its pods. */
  | { readonly kind: 'held'; readonly message: string }
  /** Another writer removed the annotation of each restart. */
  | { readonly kind: 'reverted'; readonly message: string }
  /** The API server rejected the change, or the pods could not be listed. */
  | { readonly kind: 'refused'; readonly message: string; readonly until: number };

/** Reason why an outdated workload is not restarted yet. */
export type WaitReason =
  | 'NotDue'
  | 'RolloutInProgress'
  | 'Interval'
  | 'Rate'
  | 'NamespaceRate'
  | 'Conflict'
  /** A signer of its pods has no signing CA, so new pods would get no credential. */
  | 'NoAuthority';
