// SPDX-License-Identifier: Apache-2.0

/** What a policy says of a request. No opinion leaves it to a person. */
export type VerdictOutcome = 'approve' | 'deny' | 'noOpinion';

/** What one rule says, and why. */
export interface Reason {
  readonly rule: string;
  readonly outcome: VerdictOutcome;
  readonly message: string;
}

export interface Verdict {
  readonly outcome: VerdictOutcome;
  /** Of every deny and every rule, in the order of the spec. */
  readonly reasons: readonly Reason[];
  /** An expression could not be evaluated: worth an Event, since nobody meant that. */
  readonly evaluationError: boolean;
}
