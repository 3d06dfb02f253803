// SPDX-License-Identifier: Apache-2.0

/** Checks are printed by group, in this order. */
export const CHECK_GROUPS = ['kubernetes', 'installation', 'signers', 'requests'] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

/** The content of a check's page in docs/checks. */
export interface CheckDescription {
  readonly group: CheckGroup;
  /** A statement that is true if the check passes. */
  readonly title: string;
  /** The effects of a failure. */
  readonly impact: string;
  /** The fix: paragraphs and commands. Commands begin with `$ `. */
  readonly remediation: readonly string[];
}
