// SPDX-License-Identifier: Apache-2.0

/** What a pass made of one workload. */
export type RestartVerdict =
  /** Its template records its certificates, or all its pods started later than they were written. */
  | { readonly kind: 'current' }
  | { readonly kind: 'restarted' }
  /** `until`, in milliseconds since the epoch, where that is known. */
  | { readonly kind: 'waiting'; readonly reason: WaitReason; readonly until?: number | undefined }
  /** A PodDisruptionBudget allows no pod to go. */
  | { readonly kind: 'blocked'; readonly budget: string }
  /** A changed template would not replace its pods. */
  | { readonly kind: 'held'; readonly message: string }
  /** The API server did not accept the change, or the pods could not be listed. */
  | { readonly kind: 'refused'; readonly message: string; readonly until: number };

/** Why a workload that is outdated is not restarted yet. */
export type WaitReason =
  'NotDue' | 'RolloutInProgress' | 'Interval' | 'Rate' | 'NamespaceRate' | 'Conflict';
